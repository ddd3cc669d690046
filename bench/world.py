"""
Fills an empty ledger with customers, holds, running meters and earlier charges.

Straight SQL, because a hundred thousand verbs would take longer than the benchmark;
`check_books` says afterwards whether what it wrote is what the verbs would have.
"""

from datetime import UTC, datetime, timedelta

from django.contrib.auth import get_user_model
from django.db import connection, transaction

START = datetime(2026, 6, 1, tzinfo=UTC)
METERS_PER_HOLD = 2
SUPPLIERS = 20

ACCOUNTS = """
INSERT INTO billing_account (kind, party, currency, balance, may_go_negative)
SELECT kind, 'user:' || id, 'USD', 0, false
FROM marketplace_user CROSS JOIN (VALUES ('AVAILABLE'), ('HELD')) AS pot(kind)
UNION ALL SELECT 'PAYABLE', 'supplier:' || n, 'USD', 0, false
    FROM generate_series(1, %(suppliers)s) AS n
UNION ALL SELECT 'FEES', '', 'USD', 0, false
UNION ALL SELECT 'CLEARING', 'sandbox', 'USD', 0, false
"""

WALLETS = """
INSERT INTO billing_wallet (user_id, currency, available_id, held_id)
SELECT person.id, 'USD', available.id, held.id
FROM marketplace_user AS person
JOIN billing_account AS available
    ON available.kind = 'AVAILABLE' AND available.party = 'user:' || person.id
JOIN billing_account AS held
    ON held.kind = 'HELD' AND held.party = available.party
"""

HOLDS = """
INSERT INTO billing_hold
    (wallet_id, reference, currency, amount, captured, released, status, placed_at,
    is_extended_automatically)
SELECT id, 'workspace:' || gen_random_uuid(), 'USD', 100000, 0, 0, 'OPEN',
    %(start)s, false
FROM billing_wallet
"""

FUNDING = """
INSERT INTO billing_transfer
    (debit_id, credit_id, currency, amount, kind, "group", key, reference, happened_at)
SELECT clearing.id, wallet.available_id, 'USD', 100000, 'TOP_UP', gen_random_uuid(),
    'pay:' || wallet.id, '', %(start)s
FROM billing_wallet AS wallet, billing_account AS clearing
WHERE clearing.kind = 'CLEARING'
UNION ALL
SELECT wallet.available_id, wallet.held_id, 'USD', 100000, 'HOLD', gen_random_uuid(),
    'hold:' || wallet.id, hold.reference, %(start)s
FROM billing_wallet AS wallet JOIN billing_hold AS hold ON hold.wallet_id = wallet.id
"""

# Half a thousand rates from 0.0500 to 3.9999, with fractions of a cent. The meters of
# a hold follow each other, as they do where a rental starts them together.
METERS = """
INSERT INTO billing_meter
    (hold_id, name, currency, rate, units, period_seconds, payee_id, fee_rate,
    started_at, ends_at, billed_until, billed_amount)
SELECT hold.id, 'meter ' || n, 'USD', 0.05 + (hold.id * 7919 %% 39499) / 10000.0, n,
    3600, payee.id, 0.1, %(start)s, %(start)s + interval '200 days', %(start)s, 0
FROM billing_hold AS hold
CROSS JOIN generate_series(1, %(per_hold)s) AS n
JOIN billing_account AS payee ON payee.kind = 'PAYABLE'
    AND payee.party = 'supplier:' || 1 + hold.id %% %(suppliers)s
ORDER BY hold.id, n
"""


def build(meters: int) -> None:
    """
    Make `meters` running meters, two to a hold, that nothing was billed for.
    """
    row = {
        "wallets": meters // METERS_PER_HOLD,
        "suppliers": SUPPLIERS,
        "per_hold": METERS_PER_HOLD,
        "start": START,
    }
    with transaction.atomic(), connection.cursor() as cursor:
        get_user_model().objects.bulk_create(
            get_user_model()(email=f"renter{number}@bench.example", password="!")  # noqa: S106
            for number in range(row["wallets"])
        )
        for statement in (ACCOUNTS, WALLETS, HOLDS, FUNDING, METERS):
            cursor.execute(statement, row)
    settle()


def settle() -> None:
    """
    Let the planner know the tables.
    """
    with connection.cursor() as cursor:
        cursor.execute("VACUUM (ANALYZE)")


def hour(number: int) -> datetime:
    return START + timedelta(hours=number)
