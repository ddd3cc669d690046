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
from typing import Any, NamedTuple

from django.db import DataError, IntegrityError, connection, transaction
from djmoney.money import Money

from billing.failpoints import failpoint
from billing.ledger import id_array, lock_account_ids, retry_conflicts
from billing.metering import whole_hour
from billing.models import MeterFault

logger = logging.getLogger(__name__)

CHARGES_PER_CHUNK = 10_000

LOOK_AT_DUE = """
    SELECT
        count(*),
        ceil(extract(epoch FROM sum(least(ends_at, %(until)s) - billed_until)) / 3600),
        EXISTS (SELECT FROM billing_meterfault WHERE resolved_at IS NULL)
    FROM billing_meter
    WHERE stopped_at IS NULL AND (ends_at <= %(at)s OR billed_until < %(until)s)
"""

LOCK_DUE_METERS = """
    SELECT id, hold_id, payee_id FROM billing_meter
    WHERE id > %(after)s
        AND stopped_at IS NULL AND (ends_at <= %(at)s OR billed_until < %(until)s)
    ORDER BY id LIMIT %(limit)s
    FOR NO KEY UPDATE SKIP LOCKED
"""

# Returns the accounts, of the wallets and for the fees, that are to be locked next.
LOCK_HOLDS = """
    WITH locked AS (
        SELECT wallet.held_id
        FROM billing_hold AS hold
        JOIN billing_wallet AS wallet ON wallet.id = hold.wallet_id
        WHERE hold.id = ANY(%(holds)s::bigint[])
        ORDER BY hold.id
        FOR NO KEY UPDATE OF hold
    )
    SELECT held_id FROM locked
    UNION ALL
    SELECT id FROM billing_account WHERE kind = 'FEES' AND party = ''
"""

# Cents so far are an exact integer quotient, half up: floor(x + 1/2). What an hour
# costs is their growth within it, so the hours of a meter always add up to the one
# rounded amount for all its seconds. The group of a charge's transfers follows from its
# key, which no other has: a random one takes the server four times as long.
CHARGE_METERS = """
WITH term AS (
    SELECT
        meter.*, hold.reference, wallet.held_id, fees.id AS fees_id,
        hold.amount - hold.captured - hold.released AS remaining,
        100 * meter.billed_amount AS cents_before,
        200 * meter.rate * meter.units AS pace,
        2 * meter.period_seconds AS divisor,
        greatest(
            meter.billed_until,
            CASE WHEN meter.ends_at <= %(at)s THEN meter.ends_at ELSE %(until)s END
        ) AS until
    FROM billing_meter AS meter
    JOIN billing_hold AS hold ON hold.id = meter.hold_id
    JOIN billing_wallet AS wallet ON wallet.id = hold.wallet_id
    JOIN billing_account AS fees
        ON fees.kind = 'FEES' AND fees.party = '' AND fees.currency = meter.currency
    WHERE meter.id = ANY(%(meters)s::bigint[])
), due AS MATERIALIZED (
    SELECT
        id, hold_id, currency, payee_id, fee_rate, started_at, billed_until, reference,
        held_id, fees_id, remaining, cents_before, pace, divisor, period_seconds, until,
        div(pace * extract(epoch FROM until - started_at) + period_seconds, divisor)
            AS cents_after,
        %(is_stop)s OR ends_at <= %(at)s AS is_last
    FROM term ORDER BY id
), uncovered AS MATERIALIZED (
    SELECT hold_id FROM due GROUP BY hold_id
    HAVING sum(cents_after - cents_before) > 100 * min(remaining)
), billed AS MATERIALIZED (
    SELECT * FROM due WHERE hold_id NOT IN (SELECT hold_id FROM uncovered)
), part AS (
    SELECT
        billed.id, currency, held_id, payee_id, fees_id, fee_rate, reference, hour,
        greatest(hour, billed_until) AS from_at,
        least(hour + interval '1 hour', until) AS to_at,
        round(0.01 * (
            CASE WHEN hour + interval '1 hour' >= until THEN cents_after ELSE div(
                pace * extract(epoch FROM hour + interval '1 hour' - started_at)
                + period_seconds, divisor
            ) END - CASE WHEN hour <= billed_until THEN cents_before ELSE div(
                pace * extract(epoch FROM hour - started_at) + period_seconds, divisor
            ) END
        ), 2) AS amount,
        'c' || (extract(epoch FROM hour) / 3600)::int || '-' || id AS key
    FROM billed CROSS JOIN LATERAL generate_series(
        date_trunc('hour', billed_until, 'UTC'),
        until - interval '1 second',
        interval '1 hour'
    ) AS slot(hour)
    WHERE billed_until < until
), split AS MATERIALIZED (
    SELECT
        part.*, round(amount * fee_rate, 2) AS fee,
        encode(substr(sha256(convert_to(key, 'UTF8')), 1, 16), 'hex')::uuid AS group_id
    FROM part
), charge AS (
    INSERT INTO billing_charge (
        meter_id, hour, from_at, to_at, seconds,
        currency, amount, supplier_amount, fee_amount
    )
    SELECT
        id, hour, from_at, to_at, extract(epoch FROM to_at - from_at),
        currency, amount, amount - fee, fee
    FROM split
), transfer AS (
    INSERT INTO billing_transfer (
        debit_id, credit_id, currency, amount, kind, "group", key, reference, happened_at
    )
    SELECT
        held_id, payee_id, currency, amount - fee, 'USAGE', group_id,
        key || '-s', reference, to_at
    FROM split WHERE amount > fee
    UNION ALL
    SELECT
        held_id, fees_id, currency, fee, 'USAGE_FEE', group_id,
        key || '-f', reference, to_at
    FROM split WHERE fee > 0
), meter AS (
    UPDATE billing_meter AS meter
    SET
        billed_until = billed.until,
        billed_amount = 0.01 * billed.cents_after,
        stopped_at = CASE WHEN billed.is_last THEN billed.until END
    FROM billed WHERE meter.id = billed.id
), hold AS (
    UPDATE billing_hold AS hold
    SET captured = hold.captured + total.amount
    FROM (
        SELECT hold_id, 0.01 * sum(cents_after - cents_before) AS amount
        FROM billed GROUP BY hold_id
    ) AS total
    WHERE hold.id = total.hold_id
)
SELECT currency, count(*), sum(amount), NULL::bigint FROM split GROUP BY currency
UNION ALL
SELECT NULL, 0, 0, id FROM due WHERE hold_id IN (SELECT hold_id FROM uncovered)
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


class DueMeter(NamedTuple):
    """
    A meter that a tick has locked, and what else to lock for it.
    """

    id: int
    hold_id: int
    payee_id: int


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
        cursor.execute(LOOK_AT_DUE, moment)
        meters, hours, has_faults = cursor.fetchone()
    if not meters:
        return run
    # Meters that are many hours behind make a chunk as long as many meters do.
    limit = max(1, CHARGES_PER_CHUNK * meters // max(hours, meters))
    last: int | None = 0
    while last is not None:
        last = _bill_chunk(run, after=last, limit=limit, moment=moment)
    for failure in run.failures:
        report_fault(failure, at=at)
    if has_faults:
        _resolve_faults(moment)
    return run


@retry_conflicts
def _bill_chunk(
    run: BillingRun, *, after: int, limit: int, moment: dict[str, Any]
) -> int | None:
    with transaction.atomic(durable=True), connection.cursor() as cursor:
        cursor.execute(LOCK_DUE_METERS, {**moment, "after": after, "limit": limit})
        meters = [DueMeter._make(row) for row in cursor.fetchall()]
        part = charge_meters(meters, **moment) if meters else BillingRun()
        failpoint("tick.before_commit")
    failpoint("tick.after_commit")
    run.add(part)
    return meters[-1].id if len(meters) == limit else None


def charge_meters(
    meters: list[DueMeter], *, at: datetime, until: datetime, is_stop: bool = False
) -> BillingRun:
    """
    Charge locked meters up to `until`, or to their ends where `at` is past them.

    `is_stop` ends their bills there. Locks their holds, then all accounts.
    """
    accounts = {meter.payee_id for meter in meters}
    with connection.cursor() as cursor:
        cursor.execute(
            LOCK_HOLDS, {"holds": id_array({meter.hold_id for meter in meters})}
        )
        accounts.update(account for (account,) in cursor.fetchall())
    lock_account_ids(accounts)
    failpoint("tick.after_locks")
    moment = {"at": at, "until": until, "is_stop": is_stop}
    return _charge_or_split([meter.id for meter in meters], moment)


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
        cursor.execute(CHARGE_METERS, {**moment, "meters": id_array(meters)})
        for currency, charges, amount, uncovered in cursor.fetchall():
            if uncovered is None:
                run.charges += charges
                run.amount_by_currency[currency] = Money(amount, currency)
            else:
                kind = MeterFault.Kind.HOLD_TOO_SMALL
                failure = Failure(uncovered, kind, "The hold is too small.")
                run.failures.append(failure)
    return run


def _resolve_faults(moment: dict[str, Any]) -> None:
    """
    Close what staff were shown of meters that are billed by now.
    """
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
