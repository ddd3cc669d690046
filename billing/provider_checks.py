"""
Whether the ledger and the providers' own books say the same, for `billing.checks`.

Only what has been quiet for an hour when a provider was last asked is compared: what
is newer may be on its way from the one to the other.
"""

PROVIDER_QUESTIONS = {
    "money at the provider is what was transferred for it": """
        WITH theirs AS (
            SELECT provider, currency, category,
                CASE WHEN category = 'OTHER' THEN 'movement:' || ref
                    ELSE coalesce(nullif(payment_id, ''), ref) END AS payment,
                sum(amount) AS amount, max(happened_at) AS at
            FROM billing_providermovement WHERE category NOT IN ('FEE', 'PAYOUT')
            GROUP BY 1, 2, 3, 4
        ), move AS (
            SELECT debit_id AS account_id, amount, kind, key, reference, happened_at
            FROM billing_transfer
            UNION ALL
            SELECT credit_id, -amount, kind, key, reference, happened_at
            FROM billing_transfer
        ), ours AS (
            SELECT account.party AS provider, account.currency,
                CASE WHEN move.key LIKE 'payment:%' THEN 'PAYMENT'
                    WHEN move.key LIKE 'refund%' THEN 'REFUND'
                    WHEN move.key LIKE 'dispute%' THEN 'DISPUTE'
                    ELSE 'OTHER' END AS category,
                coalesce(nullif(top_up.payment_id, ''), nullif(move.reference, ''),
                    move.key) AS payment,
                sum(move.amount) AS amount, max(move.happened_at) AS at
            FROM billing_account AS account
            JOIN move ON move.account_id = account.id
            LEFT JOIN billing_topup AS top_up
                ON 'top_up:' || top_up.uuid = move.reference
            WHERE account.kind = 'CLEARING' AND account.party <> 'bank'
                AND move.kind NOT IN ('DISPUTE_FEE', 'PROVIDER_FEE', 'PROVIDER_PAYOUT')
            GROUP BY 1, 2, 3, 4
        )
        SELECT payment, concat_ws(' ', provider || ',', lower(category) || ':',
            coalesce(theirs.amount, 0), 'is not', coalesce(ours.amount, 0), currency)
        FROM theirs FULL JOIN ours USING (provider, currency, category, payment)
        JOIN billing_reconciliation AS run USING (provider)
        WHERE coalesce(theirs.amount, 0) <> coalesce(ours.amount, 0)
            AND greatest(theirs.at, ours.at) < run.until_at - interval '1 hour'
    """,
    "provider's fees and payouts are booked": """
        WITH move AS (
            SELECT credit_id AS account_id, amount, kind, key, reference
            FROM billing_transfer
            WHERE kind IN ('DISPUTE_FEE', 'PROVIDER_FEE', 'PROVIDER_PAYOUT')
            UNION ALL
            SELECT debit_id, -amount, kind, key, reference FROM billing_transfer
            WHERE kind IN ('DISPUTE_FEE', 'PROVIDER_FEE', 'PROVIDER_PAYOUT')
        ), booked AS (
            SELECT account.party AS provider, account.currency, move.amount,
                CASE move.kind WHEN 'DISPUTE_FEE'
                    THEN regexp_replace(move.key, '^dispute:(.*)/fee$', '\\1')
                    ELSE move.reference END AS item
            FROM move JOIN billing_account AS account ON account.id = move.account_id
            WHERE account.kind = 'CLEARING' AND account.party <> 'bank'
        ), movement AS (
            SELECT provider, currency, booked_at, 'movement:' || ref AS ref,
                CASE category WHEN 'DISPUTE' THEN source
                    ELSE 'movement:' || ref END AS item,
                fee - CASE WHEN category IN ('FEE', 'PAYOUT') THEN amount ELSE 0 END
                    AS kept
            FROM billing_providermovement
        ), ours AS (
            SELECT booked.provider, booked.currency,
                coalesce(movement.item, booked.item) AS item,
                sum(booked.amount) AS amount
            FROM booked LEFT JOIN movement ON movement.provider = booked.provider
                AND movement.ref = booked.item
            GROUP BY 1, 2, 3
        ), theirs AS (
            SELECT provider, currency, item, sum(kept) AS amount FROM movement
            GROUP BY 1, 2, 3 HAVING bool_and(booked_at IS NOT NULL)
        )
        SELECT item, concat_ws(' ', provider || ':', theirs.amount, 'is not',
            coalesce(ours.amount, 0), currency)
        FROM theirs LEFT JOIN ours USING (provider, currency, item)
        WHERE theirs.amount <> coalesce(ours.amount, 0)
    """,
}
