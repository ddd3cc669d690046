"""
Everything that must be true of the books, each as one question to the database.

A question returns what breaks the rule, as (id, what is seen) rows; none is right.
Most rules are also constraints or triggers. They are asked again because a restored
backup, a dropped constraint or a superuser can go past those.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from django.db import connection

from billing.payment_checks import PAYMENT_QUESTIONS
from billing.provider_checks import PROVIDER_QUESTIONS

QUESTIONS = {
    "currency balances sum to zero": """
        SELECT currency, sum(balance)::text FROM billing_account
        GROUP BY currency HAVING sum(balance) <> 0
    """,
    "account balance is the sum of its transfers": """
        SELECT account.id, account.balance || ' is not ' || coalesce(moved.amount, 0)
        FROM billing_account AS account LEFT JOIN (
            SELECT account_id, sum(amount) AS amount FROM (
                SELECT debit_id AS account_id, -amount AS amount FROM billing_transfer
                UNION ALL
                SELECT credit_id, amount FROM billing_transfer
            ) AS move GROUP BY account_id
        ) AS moved ON moved.account_id = account.id
        WHERE account.balance <> coalesce(moved.amount, 0)
    """,
    "customer balance is not negative": """
        SELECT id, balance::text FROM billing_account
        WHERE kind IN ('AVAILABLE', 'HELD') AND balance < 0 AND NOT may_go_negative
    """,
    "wallet owns its accounts and is frozen with them": """
        SELECT wallet.id, available.kind || ' ' || available.party || ', '
            || held.kind || ' ' || held.party
        FROM billing_wallet AS wallet
        JOIN billing_account AS available ON available.id = wallet.available_id
        JOIN billing_account AS held ON held.id = wallet.held_id
        WHERE available.kind <> 'AVAILABLE' OR held.kind <> 'HELD'
            OR available.party <> 'user:' || wallet.user_id
            OR held.party <> available.party
            OR available.may_go_negative <> (wallet.frozen_at IS NOT NULL)
    """,
    "held account is what remains of open holds": """
        SELECT wallet.id, held.balance || ' is not ' || coalesce(open.remaining, 0)
        FROM billing_wallet AS wallet
        JOIN billing_account AS held ON held.id = wallet.held_id
        LEFT JOIN (
            SELECT wallet_id, sum(amount - captured - released) AS remaining
            FROM billing_hold WHERE status = 'OPEN' GROUP BY wallet_id
        ) AS open ON open.wallet_id = wallet.id
        WHERE held.balance <> coalesce(open.remaining, 0)
    """,
    "hold is what was transferred for it": """
        SELECT hold.id, concat_ws(', ',
            hold.amount || ' ' || coalesce(moved.held, 0),
            hold.released || ' ' || coalesce(moved.released, 0),
            hold.captured || ' ' || coalesce(moved.captured, 0))
        FROM billing_hold AS hold LEFT JOIN (
            SELECT reference,
                sum(amount) FILTER (WHERE kind = 'HOLD') AS held,
                sum(amount) FILTER (WHERE kind = 'RELEASE') AS released,
                sum(amount) FILTER (WHERE kind IN
                    ('USAGE', 'USAGE_FEE', 'CAPTURE', 'CAPTURE_FEE')) AS captured
            FROM billing_transfer GROUP BY reference
        ) AS moved ON moved.reference = hold.reference
        WHERE hold.amount <> coalesce(moved.held, 0)
            OR hold.released <> coalesce(moved.released, 0)
            OR hold.captured <> coalesce(moved.captured, 0)
    """,
    "charges are captured from their hold": """
        SELECT hold.id, concat_ws(', ',
            coalesce(charged.supplier, 0) || ' ' || coalesce(moved.supplier, 0),
            coalesce(charged.fee, 0) || ' ' || coalesce(moved.fee, 0))
        FROM billing_hold AS hold LEFT JOIN (
            SELECT meter.hold_id,
                sum(charge.supplier_amount) AS supplier, sum(charge.fee_amount) AS fee
            FROM billing_charge AS charge
            JOIN billing_meter AS meter ON meter.id = charge.meter_id
            GROUP BY meter.hold_id
        ) AS charged ON charged.hold_id = hold.id
        LEFT JOIN (
            SELECT reference,
                sum(amount) FILTER (WHERE kind = 'USAGE') AS supplier,
                sum(amount) FILTER (WHERE kind = 'USAGE_FEE') AS fee
            FROM billing_transfer GROUP BY reference
        ) AS moved ON moved.reference = hold.reference
        WHERE coalesce(charged.supplier, 0) <> coalesce(moved.supplier, 0)
            OR coalesce(charged.fee, 0) <> coalesce(moved.fee, 0)
    """,
    "meter is billed what its charges say, without a gap": """
        SELECT meter.id, concat_ws(', ',
            meter.billed_amount || ' ' || coalesce(charged.amount, 0),
            meter.billed_until - meter.started_at,
            coalesce(charged.seconds, 0) || ' s')
        FROM billing_meter AS meter LEFT JOIN (
            SELECT meter_id, sum(amount) AS amount, sum(seconds) AS seconds,
                min(from_at) AS from_at, max(to_at) AS to_at
            FROM billing_charge GROUP BY meter_id
        ) AS charged ON charged.meter_id = meter.id
        WHERE meter.billed_amount <> coalesce(charged.amount, 0)
            OR extract(epoch FROM meter.billed_until - meter.started_at)
                <> coalesce(charged.seconds, 0)
            OR charged.from_at <> meter.started_at
            OR charged.to_at <> meter.billed_until
    """,
    "meter is billed its rate, rounded once": """
        SELECT id, billed_amount::text FROM billing_meter
        WHERE 100 * billed_amount <> div(
            200 * rate * units * extract(epoch FROM billed_until - started_at)
            + period_seconds, 2 * period_seconds)
    """,
    "charge splits by its meter's fee rate": """
        SELECT charge.id, charge.fee_amount || ' of ' || charge.amount
        FROM billing_charge AS charge
        JOIN billing_meter AS meter ON meter.id = charge.meter_id
        WHERE charge.fee_amount <> round(charge.amount * meter.fee_rate, 2)
            OR charge.supplier_amount + charge.fee_amount <> charge.amount
    """,
    "charges of a meter do not overlap": """
        SELECT id, from_at::text FROM (
            SELECT id, from_at, lag(to_at) OVER (PARTITION BY meter_id ORDER BY from_at)
                AS last_to FROM billing_charge
        ) AS charge WHERE from_at < last_to
    """,
    "meter is not billed past its end": """
        SELECT id, billed_until::text FROM billing_meter
        WHERE billed_until > coalesce(stopped_at, ends_at) OR billed_until < started_at
    """,
    "payout is what was transferred for it": """
        SELECT payout.id, payout.status || ' ' || payout.amount || ', '
            || coalesce(sum(transfer.amount) FILTER (WHERE transfer.kind = 'PAYOUT'), 0)
        FROM billing_payout AS payout LEFT JOIN billing_transfer AS transfer
            ON transfer.key IN
                ('payout:' || payout.id || '/out', 'payout:' || payout.id || '/back')
        GROUP BY payout.id
        HAVING payout.amount IS DISTINCT FROM
            sum(transfer.amount) FILTER (WHERE transfer.kind = 'PAYOUT')
        OR CASE payout.status WHEN 'RETURNED' THEN payout.amount ELSE 0 END <> coalesce(
            sum(transfer.amount) FILTER (WHERE transfer.kind = 'PAYOUT_RETURN'), 0)
    """,
    "open hold covers its running meters": """
        SELECT hold.id, hold.amount - hold.captured - hold.released || ' for ' || sum(due.cost)
        FROM billing_hold AS hold JOIN (
            SELECT hold_id, 0.01 * div(
                200 * rate * units * extract(epoch FROM ends_at - started_at)
                + period_seconds, 2 * period_seconds) - billed_amount AS cost
            FROM billing_meter WHERE stopped_at IS NULL
        ) AS due ON due.hold_id = hold.id
        GROUP BY hold.id
        HAVING hold.status <> 'OPEN'
            OR hold.amount - hold.captured - hold.released < sum(due.cost)
    """,
}


@dataclass(frozen=True)
class Fault:
    """
    A rule of the books that does not hold, for one row.
    """

    rule: str
    id: str
    seen: str

    def __str__(self) -> str:
        return f"{self.rule}: {self.id}: {self.seen}"


def check_books() -> list[Fault]:
    """
    Ask every question of the books as they stood at one moment; return what is wrong.
    """
    return _ask({**QUESTIONS, **PAYMENT_QUESTIONS, **PROVIDER_QUESTIONS})


def check_providers() -> list[Fault]:
    """
    Return where the ledger and the providers' own books differ.
    """
    return _ask(PROVIDER_QUESTIONS)


def _ask(questions: Mapping[str, str]) -> list[Fault]:
    rules = list(questions)
    # One statement sees one moment, whatever is posted meanwhile.
    parts = [
        " ".join(
            [
                "SELECT", str(number), "AS rule, found.id::text, found.seen::text",
                "FROM (", question, ") AS found (id, seen)",
            ]
        )
        for number, question in enumerate(questions.values())
    ]  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(parts) + " ORDER BY 1, 2, 3")
        return [
            Fault(rules[rule], row_id, seen) for rule, row_id, seen in cursor.fetchall()
        ]
