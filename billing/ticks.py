"""
Billing by the hour, as SQL over thousands of meters at a time.

A tick bills every running meter up to the last full UTC hour, and up to its end if
that has come. It works in chunks, each one short transaction: what was billed stays
billed when a later chunk fails, the process dies or another worker is faster. A tick
that finds nothing due only looks.
"""

import logging
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import DataError, IntegrityError, connection, transaction
from djmoney.money import Money

from billing.failpoints import failpoint
from billing.ledger import lock_account_ids, retry_conflicts
from billing.metering import whole_hour
from billing.models import MeterFault

logger = logging.getLogger(__name__)

CHARGES_PER_CHUNK = 5_000

COUNT_DUE = """
    SELECT count(*), coalesce(sum(ceil(
        extract(epoch FROM least(ends_at, %(until)s) - billed_until) / 3600
    )), 0)::bigint
    FROM billing_meter
    WHERE stopped_at IS NULL AND (ends_at <= %(at)s OR billed_until < %(until)s)
"""

LOCK_DUE_METERS = """
    SELECT id FROM billing_meter
    WHERE id > %(after)s
        AND stopped_at IS NULL AND (ends_at <= %(at)s OR billed_until < %(until)s)
    ORDER BY id LIMIT %(limit)s
    FOR NO KEY UPDATE SKIP LOCKED
"""

LOCK_HOLDS = """
    SELECT wallet.held_id
    FROM billing_hold AS hold JOIN billing_wallet AS wallet ON wallet.id = hold.wallet_id
    WHERE hold.id IN (SELECT hold_id FROM billing_meter WHERE id = ANY(%(meters)s))
    ORDER BY hold.id
    FOR NO KEY UPDATE OF hold
"""

PAID_ACCOUNTS = """
    SELECT payee_id FROM billing_meter WHERE id = ANY(%(meters)s)
    UNION
    SELECT account.id FROM billing_account AS account
    WHERE account.kind = 'FEES' AND account.party = '' AND account.currency IN (
        SELECT currency FROM billing_meter WHERE id = ANY(%(meters)s)
    )
"""

# Cents so far are an exact integer quotient, half up: floor(x + 1/2). What an hour
# costs is their growth within it, so the hours of a meter always add up to the one
# rounded amount for all its seconds.
CHARGE_METERS = """
WITH due AS MATERIALIZED (
    SELECT
        meter.id, meter.hold_id, meter.currency, meter.payee_id, meter.fee_rate,
        meter.started_at, meter.billed_until, meter.billed_amount,
        200 * meter.rate * meter.units AS pace, meter.period_seconds AS period,
        hold.reference, wallet.held_id, fees.id AS fees_id,
        hold.amount - hold.captured - hold.released AS remaining,
        %(is_stop)s OR meter.ends_at <= %(at)s AS is_last,
        greatest(
            meter.billed_until,
            CASE WHEN meter.ends_at <= %(at)s THEN meter.ends_at ELSE %(until)s END
        ) AS until
    FROM billing_meter AS meter
    JOIN billing_hold AS hold ON hold.id = meter.hold_id
    JOIN billing_wallet AS wallet ON wallet.id = hold.wallet_id
    JOIN billing_account AS fees
        ON fees.kind = 'FEES' AND fees.party = '' AND fees.currency = meter.currency
    WHERE meter.id = ANY(%(meters)s)
), part AS (
    SELECT
        due.*, slot.hour,
        greatest(slot.hour, due.billed_until) AS from_at,
        least(slot.hour + interval '1 hour', due.until) AS to_at,
        div(
            due.pace * extract(
                epoch FROM least(slot.hour + interval '1 hour', due.until)
                - due.started_at
            ) + due.period,
            2 * due.period
        ) AS cents_so_far
    FROM due CROSS JOIN LATERAL generate_series(
        date_trunc('hour', due.billed_until, 'UTC'),
        due.until - interval '1 second',
        interval '1 hour'
    ) AS slot(hour)
    WHERE due.billed_until < due.until
), priced AS (
    SELECT
        part.*,
        round(0.01 * (cents_so_far - lag(cents_so_far, 1, 100 * billed_amount)
            OVER (PARTITION BY id ORDER BY hour)), 2) AS amount
    FROM part
), split AS MATERIALIZED (
    SELECT
        priced.*,
        round(amount * fee_rate, 2) AS fee,
        gen_random_uuid() AS group_id,
        (extract(epoch FROM hour) / 3600)::int AS hour_number,
        sum(amount) OVER (PARTITION BY hold_id) <= remaining AS is_covered
    FROM priced
), charge AS (
    INSERT INTO billing_charge (
        meter_id, hour, from_at, to_at, seconds,
        currency, amount, supplier_amount, fee_amount
    )
    SELECT
        id, hour, from_at, to_at, extract(epoch FROM to_at - from_at),
        currency, amount, amount - fee, fee
    FROM split WHERE is_covered ORDER BY id, hour
), transfer AS (
    INSERT INTO billing_transfer (
        debit_id, credit_id, currency, amount, kind, "group", key, reference, happened_at
    )
    SELECT
        held_id, payee_id, currency, amount - fee, 'USAGE', group_id,
        'c' || hour_number || '-' || id || '-s', reference, to_at
    FROM split WHERE is_covered AND amount > fee
    UNION ALL
    SELECT
        held_id, fees_id, currency, fee, 'USAGE_FEE', group_id,
        'c' || hour_number || '-' || id || '-f', reference, to_at
    FROM split WHERE is_covered AND fee > 0
), meter AS (
    UPDATE billing_meter AS meter
    SET
        billed_until = due.until,
        billed_amount = meter.billed_amount + coalesce(billed.amount, 0),
        stopped_at = CASE WHEN due.is_last THEN due.until END
    FROM due LEFT JOIN (
        SELECT id, sum(amount) AS amount, bool_and(is_covered) AS is_covered
        FROM split GROUP BY id
    ) AS billed ON billed.id = due.id
    WHERE meter.id = due.id AND coalesce(billed.is_covered, true)
), hold AS (
    UPDATE billing_hold AS hold
    SET captured = hold.captured + billed.amount
    FROM (
        SELECT hold_id, sum(amount) AS amount FROM split WHERE is_covered GROUP BY hold_id
    ) AS billed
    WHERE hold.id = billed.hold_id
)
SELECT
    currency,
    count(*) FILTER (WHERE is_covered),
    coalesce(sum(amount) FILTER (WHERE is_covered), 0),
    coalesce(array_agg(DISTINCT id) FILTER (WHERE NOT is_covered), '{}')
FROM split GROUP BY currency
"""

REPORT_FAULT = """
    INSERT INTO billing_meterfault (meter_id, kind, detail, first_seen_at, last_seen_at)
    VALUES (%(meter)s, %(kind)s, %(detail)s, %(at)s, %(at)s)
    ON CONFLICT (meter_id, kind) WHERE resolved_at IS NULL
    DO UPDATE SET detail = excluded.detail, last_seen_at = excluded.last_seen_at
"""

RESOLVE_FAULTS = """
    UPDATE billing_meterfault AS fault SET resolved_at = %(at)s
    FROM billing_meter AS meter
    WHERE fault.resolved_at IS NULL AND fault.kind = ANY(%(kinds)s)
        AND meter.id = fault.meter_id
        AND (meter.stopped_at IS NOT NULL OR meter.billed_until >= %(until)s)
"""


@dataclass(frozen=True)
class Failure:
    """
    A meter that could not be billed, and why.
    """

    meter_id: int
    kind: MeterFault.Kind
    detail: str


@dataclass
class BillingRun:
    """
    What one tick, or one part of it, did.
    """

    charges: int = 0
    amount_by_currency: dict[str, Money] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)

    def add(self, other: "BillingRun") -> None:
        self.charges += other.charges
        for currency, amount in other.amount_by_currency.items():
            so_far = self.amount_by_currency.get(currency, Money(0, currency))
            self.amount_by_currency[currency] = so_far + amount
        self.failures += other.failures


def bill_due(*, at: datetime) -> BillingRun:
    """
    Bill every running meter up to the last full UTC hour, or to its end if that came.

    Missed hours are caught up, each as its own charge. A meter that cannot be billed
    is reported in the run, in the log and to staff, and stops no other. Several
    workers may run this at once.

    :raises Busy: if the accounts stayed locked by others; what was billed stays billed
    """
    run = BillingRun()
    moment = {"at": at, "until": whole_hour(at)}
    with connection.cursor() as cursor:
        cursor.execute(COUNT_DUE, moment)
        meters, hours = cursor.fetchone()
    if not meters:
        return run
    # Meters that are many hours behind make a chunk as long as many meters do.
    limit = max(1, CHARGES_PER_CHUNK * meters // max(hours, meters))
    last: int | None = 0
    while last is not None:
        last = _bill_chunk(run, after=last, limit=limit, moment=moment)
    _report(run, moment=moment)
    return run


@retry_conflicts
def _bill_chunk(
    run: BillingRun, *, after: int, limit: int, moment: dict[str, Any]
) -> int | None:
    with transaction.atomic(durable=True), connection.cursor() as cursor:
        cursor.execute(LOCK_DUE_METERS, {**moment, "after": after, "limit": limit})
        meters = [row[0] for row in cursor.fetchall()]
        part = charge_meters(meters, **moment) if meters else BillingRun()
        failpoint("tick.before_commit")
    failpoint("tick.after_commit")
    run.add(part)
    return meters[-1] if len(meters) == limit else None


def charge_meters(
    meters: list[int], *, at: datetime, until: datetime, is_stop: bool = False
) -> BillingRun:
    """
    Charge locked meters up to `until`, or to their ends where `at` is past them.

    `is_stop` ends their bills there. Locks their holds, then all accounts.
    """
    with connection.cursor() as cursor:
        cursor.execute(LOCK_HOLDS, {"meters": meters})
        held = [row[0] for row in cursor.fetchall()]
        cursor.execute(PAID_ACCOUNTS, {"meters": meters})
        lock_account_ids(held + [row[0] for row in cursor.fetchall()])
    failpoint("tick.after_locks")
    return _charge_or_split(meters, {"at": at, "until": until, "is_stop": is_stop})


def _charge_or_split(meters: list[int], moment: dict[str, Any]) -> BillingRun:
    """
    Charge the meters; if the database refuses, find the one it refuses by halves.
    """
    try:
        with transaction.atomic():
            return _charge(meters, moment)
    except (IntegrityError, DataError) as error:
        if len(meters) == 1:
            detail = str(error).strip()
            failure = Failure(meters[0], MeterFault.Kind.REFUSED, detail)
            return BillingRun(failures=[failure])
    half = len(meters) // 2
    run = _charge_or_split(meters[:half], moment)
    run.add(_charge_or_split(meters[half:], moment))
    return run


def _charge(meters: list[int], moment: dict[str, Any]) -> BillingRun:
    run = BillingRun()
    with connection.cursor() as cursor:
        # The planner takes the lateral hours for a thousand each, which would start
        # the compiler for a statement that is done before it.
        cursor.execute("SET LOCAL jit = off")
        cursor.execute(CHARGE_METERS, {**moment, "meters": meters})
        for currency, charges, amount, uncovered in cursor.fetchall():
            run.charges += charges
            if charges:
                run.amount_by_currency[currency] = Money(amount, currency)
            run.failures += [
                Failure(meter, MeterFault.Kind.HOLD_TOO_SMALL, "The hold is too small.")
                for meter in uncovered
            ]
    return run


@transaction.atomic
def _report(run: BillingRun, *, moment: dict[str, Any]) -> None:
    """
    Log the run's failures, show them to staff, and close those that are mended.
    """
    for failure in run.failures:
        report_fault(failure, at=moment["at"])
    kinds = [MeterFault.Kind.HOLD_TOO_SMALL, MeterFault.Kind.REFUSED]
    with connection.cursor() as cursor:
        cursor.execute(RESOLVE_FAULTS, {**moment, "kinds": [str(k) for k in kinds]})


def report_fault(failure: Failure, *, at: datetime) -> None:
    """
    Log the failure and show it to staff, as one open row per meter and kind.
    """
    logger.error("Meter %d not billed: %s", failure.meter_id, failure.detail)
    row: dict[str, Any] = {
        "meter": failure.meter_id,
        "kind": str(failure.kind),
        "detail": failure.detail,
        "at": at,
    }
    with connection.cursor() as cursor:
        cursor.execute(REPORT_FAULT, row)
