"""
What must be true of payments and their documents, as questions for `billing.checks`.
"""

PAYMENT_QUESTIONS = {
    "top-up is what was transferred for it": """
        SELECT top_up.id, concat_ws(', ',
            top_up.status,
            top_up.net || ' ' || coalesce(moved.net_in, 0),
            top_up.vat || ' ' || coalesce(moved.vat_in, 0),
            top_up.refunded_net || ' ' || coalesce(moved.net_out, 0),
            top_up.refunded_vat || ' ' || coalesce(moved.vat_out, 0))
        FROM billing_topup AS top_up LEFT JOIN (
            SELECT transfer.reference,
                sum(amount) FILTER (WHERE transfer.kind IN ('TOP_UP', 'PROMOTION'))
                    AS net_in,
                sum(amount) FILTER (WHERE transfer.kind = 'TAX') AS vat_in,
                sum(CASE WHEN credit.kind = 'CLEARING' THEN amount ELSE -amount END)
                    FILTER (WHERE transfer.kind IN ('REFUND', 'DISPUTE')) AS net_out,
                sum(CASE WHEN credit.kind = 'CLEARING' THEN amount ELSE -amount END)
                    FILTER (WHERE transfer.kind = 'TAX_REFUND') AS vat_out
            FROM billing_transfer AS transfer
            JOIN billing_account AS credit ON credit.id = transfer.credit_id
            WHERE transfer.reference LIKE 'top_up:%'
            GROUP BY transfer.reference
        ) AS moved ON moved.reference = 'top_up:' || top_up.uuid
        WHERE coalesce(moved.net_in, 0)
                <> CASE WHEN top_up.status = 'PAID' THEN top_up.net ELSE 0 END
            OR coalesce(moved.vat_in, 0)
                <> CASE WHEN top_up.status = 'PAID' AND NOT top_up.is_gift
                    THEN top_up.vat ELSE 0 END
            OR coalesce(moved.net_out, 0) <> top_up.refunded_net
            OR coalesce(moved.vat_out, 0) <> top_up.refunded_vat
    """,
    "refunds and disputes are what went back of their top-up": """
        SELECT top_up.id, top_up.refunded_net || ' is not ' || coalesce(back.net, 0)
        FROM billing_topup AS top_up LEFT JOIN (
            SELECT top_up_id, sum(net) AS net, sum(vat) AS vat FROM (
                SELECT top_up_id, net, vat FROM billing_refund WHERE status <> 'FAILED'
                UNION ALL
                SELECT top_up_id, net, vat FROM billing_dispute WHERE status <> 'WON'
            ) AS part GROUP BY top_up_id
        ) AS back ON back.top_up_id = top_up.id
        WHERE top_up.refunded_net <> coalesce(back.net, 0)
            OR top_up.refunded_vat <> coalesce(back.vat, 0)
    """,
    "invoice numbers have no gap": """
        SELECT series.prefix || '-' || series.year,
            series.last_number || ' given out, ' || count(invoice.id) || ' used'
        FROM billing_invoiceseries AS series
        LEFT JOIN billing_invoice AS invoice
            ON invoice.kind = series.prefix AND invoice.year = series.year
        GROUP BY series.id
        HAVING count(invoice.id) <> series.last_number
            OR coalesce(max(invoice.number), 0) <> series.last_number
    """,
    "invoice is what was paid": """
        SELECT invoice.id, invoice.total || ' is not ' || top_up.total
        FROM billing_invoice AS invoice
        JOIN billing_topup AS top_up ON top_up.id = invoice.top_up_id
        WHERE invoice.kind = 'INV' AND (
            invoice.net <> top_up.net
            OR invoice.vat <> top_up.vat
            OR invoice.currency <> top_up.currency
            OR top_up.status <> 'PAID')
    """,
}
