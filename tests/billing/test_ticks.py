import logging
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from djmoney.money import Money

from billing import ticks
from billing.models import Charge, Hold, Meter, MeterFault
from billing.services import (
    bill_due,
    charges_of,
    meter_of,
    place_hold,
    stop_meter,
)
from tests.billing.conftest import (
    NOON,
    SUPPLIER,
    balance,
    balance_of,
    make_wallet,
    pay,
    usd,
)


def after(**time):
    return NOON + timedelta(**time)


def hold_for(wallet, reference, amount):
    pay(wallet, amount, key=f"for:{reference}")
    return place_hold(
        user_id=wallet.user_id,
        amount=Money(Decimal(amount), wallet.currency),
        reference=reference,
        key=reference,
        at=NOON,
    )


# --- how far


@pytest.mark.parametrize(
    ("at", "charges"),
    [
        (after(minutes=59, seconds=59), 0),
        (after(hours=1), 1),
        (after(hours=1, microseconds=-1), 0),
        (after(hours=1, minutes=59), 1),
        (after(hours=3), 3),
        (after(hours=-1), 0),
    ],
)
def test_bills_up_to_the_last_full_hour(run_meter, at, charges):
    run_meter()

    assert bill_due(at=at).charges == charges


def test_begun_hour_of_the_start_is_billed_in_part(run_meter):
    meter = run_meter(started_at=after(minutes=45))

    run = bill_due(at=after(hours=2))

    assert run.charges == 2
    assert [c.amount for c in charges_of(hold_id=meter.hold_id)] == [
        usd("1.00"),
        usd("0.25"),
    ]


def test_ended_meter_is_billed_to_its_end_and_stopped(run_meter):
    meter = run_meter(ends_at=after(hours=1, minutes=30))

    assert bill_due(at=after(hours=1, minutes=29)).charges == 1
    assert bill_due(at=after(hours=1, minutes=30)).charges == 1

    ended = meter_of(meter_id=meter.id)
    assert ended.stopped_at == ended.billed_until == after(hours=1, minutes=30)
    assert ended.billed_amount == usd("1.50")
    assert bill_due(at=after(days=9)).charges == 0


def test_meter_that_is_billed_to_its_end_already_is_stopped(run_meter):
    meter = run_meter(ends_at=after(hours=2))
    Meter.objects.filter(pk=meter.id).update(ends_at=after(hours=3))
    bill_due(at=after(hours=2))
    Meter.objects.filter(pk=meter.id).update(ends_at=after(hours=2))

    run = bill_due(at=after(hours=2))

    assert (run.charges, run.failures) == (0, [])
    assert meter_of(meter_id=meter.id).stopped_at == after(hours=2)


def test_totals_are_told_by_currency(run_meter):
    run_meter()
    euros = make_wallet(currency="EUR")
    hold = hold_for(euros, "w:eur", "50")
    run_meter(hold_id=hold.id, rate=Money(2, "EUR"), ends_at=after(hours=9))

    run = bill_due(at=after(hours=3))

    assert run.charges == 6
    assert {c: a.amount for c, a in run.amount_by_currency.items()} == {
        "USD": 3,
        "EUR": 6,
    }


# --- rounding


@pytest.mark.parametrize(
    ("rate", "hours", "amount"),
    [("0.0049", 24, "0.12"), ("0.138", 720, "99.36"), ("0.3333", 300, "99.99")],
)
def test_hourly_rounding_never_drifts(run_meter, rate, hours, amount):
    meter = run_meter(rate=usd(rate), ends_at=after(hours=hours))

    for hour in range(1, hours + 1, 7):
        bill_due(at=after(hours=hour))
    bill_due(at=after(hours=hours))

    assert Charge.objects.count() == hours
    assert meter_of(meter_id=meter.id).billed_amount == usd(amount)


def test_half_a_cent_is_rounded_up_exactly(run_meter):
    # 0.005 an hour: the cent comes in the first half hour of every two hours.
    run_meter(rate=usd("0.005"), fee_rate=Decimal(0))

    bill_due(at=after(hours=4))

    amounts = Charge.objects.order_by("hour").values_list("amount", flat=True)
    assert [str(a) for a in amounts] == ["0.01", "0.00", "0.01", "0.00"]


# --- hours and zones


@pytest.mark.parametrize(
    ("day", "hours", "amount"),
    [
        pytest.param("2026-10-25", 25, "30.00", id="M37"),
        pytest.param("2026-03-29", 23, "27.60", id="M37-spring"),
        pytest.param("2026-06-01", 24, "28.80", id="M37-plain"),
    ],
)
def test_m37_a_day_in_berlin_has_its_real_hours(run_meter, day, hours, amount):
    berlin = ZoneInfo("Europe/Berlin")
    start = datetime.fromisoformat(day).replace(tzinfo=berlin)
    end = (start.replace(tzinfo=None) + timedelta(days=1)).replace(tzinfo=berlin)
    meter = run_meter(rate=usd("1.20"), started_at=start, ends_at=end)

    for quarter in range(4 * 26):
        bill_due(at=start.astimezone(UTC) + timedelta(minutes=15 * quarter))

    assert Charge.objects.count() == hours
    assert meter_of(meter_id=meter.id).billed_amount == usd(amount)


def test_m39_missed_hours_are_caught_up_one_by_one(run_meter):
    meter = run_meter(started_at=NOON.replace(hour=1))

    run = bill_due(at=NOON.replace(hour=6))

    assert run.charges == 5
    charges = charges_of(hold_id=meter.hold_id)
    assert [c.hour.hour for c in charges] == [5, 4, 3, 2, 1]
    assert [c.to_at.hour for c in charges] == [6, 5, 4, 3, 2]
    assert {c.amount for c in charges} == {usd(1)}


def test_thirty_missed_hours_are_billed_once(run_meter):
    run_meter()

    runs = [bill_due(at=after(hours=30)).charges for _ in range(3)]

    assert runs == [30, 0, 0]


def test_hours_behind_make_smaller_chunks(run_meter, monkeypatch):
    monkeypatch.setattr(ticks, "CHARGES_PER_CHUNK", 20)
    for _ in range(5):
        run_meter(ends_at=after(hours=10), rate=usd("0.5"))

    with CaptureQueriesContext(connection) as queries:
        run = bill_due(at=after(hours=10))

    assert (run.charges, run.amount_by_currency) == (50, {"USD": usd(25)})
    chunks = [q for q in queries if "INSERT INTO billing_charge" in q["sql"]]
    assert len(chunks) == 3


# --- again and again


def test_m40_r40_idle_tick_only_looks(run_meter):
    run_meter()
    bill_due(at=after(hours=1))

    with CaptureQueriesContext(connection) as queries:
        runs = [bill_due(at=after(hours=1, minutes=1)) for _ in range(100)]

    assert {run.charges for run in runs} == {0}
    assert len(queries) == 100
    assert not any("UPDATE" in q["sql"] or "INSERT" in q["sql"] for q in queries)
    assert Charge.objects.count() == 1


@pytest.mark.parametrize(
    "order", [(1, 2, 3), (3, 1, 2), (3, 2, 1), (1, 1, 3), (2, 3, 1)]
)
def test_m41_late_early_and_double_ticks_bill_alike(run_meter, order):
    meter = run_meter(rate=usd("0.70"))

    for hour in order:
        bill_due(at=after(hours=hour))
        bill_due(at=after(hours=hour))

    assert meter_of(meter_id=meter.id).billed_amount == usd("2.10")
    assert Charge.objects.count() == 3


def test_m49d_running_a_day_again_takes_nothing_more(wallet, run_meter):
    run_meter(rate=usd("0.10"))

    for _ in range(2):
        bill_due(at=after(hours=24))

    assert balance(wallet.held_id) == Decimal("97.60")
    assert balance_of("PAYABLE", SUPPLIER) + balance_of("FEES") == Decimal("2.40")


# --- broken rows


def break_hold(hold):
    """
    Make the hold smaller than its meters need, as no verb would.
    """
    Hold.objects.filter(pk=hold.id).update(captured="99.99")


def test_m82_hold_too_small_stops_no_other(
    wallet, hold, run_meter, broken_books, caplog
):
    poor = run_meter()
    rich = run_meter(hold_id=hold_for(wallet, "w:2", "50").id, ends_at=after(hours=5))
    break_hold(hold)

    with caplog.at_level(logging.ERROR):
        run = bill_due(at=after(hours=2))

    assert run.charges == 2
    assert meter_of(meter_id=rich.id).billed_amount == usd(2)
    assert meter_of(meter_id=poor.id).billed_until == NOON
    assert [(f.meter_id, f.kind) for f in run.failures] == [(poor.id, "HOLD_TOO_SMALL")]
    assert f"Meter {poor.id} not billed" in caplog.text


def test_meters_of_one_hold_are_billed_together_or_not(hold, run_meter, broken_books):
    for _ in range(2):
        run_meter(ends_at=after(hours=9))
    Hold.objects.filter(pk=hold.id).update(captured="98.50")

    run = bill_due(at=after(hours=1))

    assert (run.charges, len(run.failures)) == (0, 2)


def test_refused_meter_is_found_among_many_and_reported(
    wallet, run_meter, broken_books
):
    meters = [run_meter(ends_at=after(hours=9)) for _ in range(9)]
    broken = meters[5]
    with connection.cursor() as cursor:
        # As if a charge had been written that the meter does not know of.
        cursor.execute(
            "INSERT INTO billing_charge (meter_id, hour, from_at, to_at, seconds,"
            " currency, amount, supplier_amount, fee_amount)"
            " VALUES (%s, %s, %s, %s, 3600, 'USD', 1, 1, 0)",
            [broken.id, NOON, NOON, after(hours=1)],
        )

    run = bill_due(at=after(hours=1))

    assert run.charges == 8
    assert [(f.meter_id, f.kind) for f in run.failures] == [(broken.id, "REFUSED")]
    assert "charge_unique_meter_hour" in run.failures[0].detail
    assert meter_of(meter_id=broken.id).billed_until == NOON


def test_failure_is_shown_to_staff_until_it_is_mended(hold, run_meter, broken_books):
    meter = run_meter()
    break_hold(hold)

    bill_due(at=after(hours=1))
    bill_due(at=after(hours=2))

    fault = MeterFault.objects.get()
    assert (fault.meter_id, fault.kind) == (meter.id, "HOLD_TOO_SMALL")
    assert (fault.first_seen_at, fault.last_seen_at) == (after(hours=1), after(hours=2))
    assert fault.resolved_at is None

    Hold.objects.filter(pk=hold.id).update(captured=0)
    assert bill_due(at=after(hours=3)).charges == 3
    fault.refresh_from_db()
    assert fault.resolved_at == after(hours=3)


def test_fault_of_a_stop_stays_open_for_staff(run_meter):
    stop_meter(meter_id=run_meter().id, at=NOON - timedelta(seconds=3))
    run_meter()

    bill_due(at=after(hours=1))

    assert MeterFault.objects.get().resolved_at is None
