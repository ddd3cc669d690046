from datetime import timedelta
from decimal import Decimal

import pytest
from djmoney.money import Money

from billing.models import Charge, Hold, Meter, MeterFault, Transfer, UsedKey
from billing.services import (
    HoldEnded,
    HoldTooSmall,
    KeyReused,
    MeterEnded,
    bill_due,
    charges_of,
    extend_meter,
    hold_of,
    meter_for_update,
    meter_of,
    meters_of,
    release_hold,
    running_meters,
    shorten_meter,
    stop_meter,
)
from tests.billing.conftest import DAY, HOUR, NOON, SUPPLIER, balance_of, usd


def after(**time):
    return NOON + timedelta(**time)


# --- starting


def test_started_meter_has_charged_nothing(run_meter):
    meter = run_meter(rate=usd("2.69"), units=Decimal(8), ends_at=after(hours=4))

    assert (meter.rate, meter.units, meter.period_seconds) == (usd("2.69"), 8, HOUR)
    assert (meter.started_at, meter.ends_at) == (NOON, after(hours=4))
    assert (meter.billed_until, meter.billed_amount) == (NOON, usd(0))
    assert meter.stopped_at is None
    assert meters_of(hold_id=meter.hold_id) == [meter_of(meter_id=meter.id)]


def test_starting_again_with_the_key_is_the_first_meter(run_meter):
    first = run_meter(name="compute", key="compute:1")

    assert run_meter(name="compute", key="compute:1").id == first.id
    with pytest.raises(KeyReused):
        run_meter(name="compute", key="compute:1", rate=usd(2))

    assert Meter.objects.count() == 1


def test_times_are_cut_to_whole_seconds(run_meter):
    meter = run_meter(
        started_at=after(milliseconds=999), ends_at=after(hours=1, milliseconds=999)
    )

    assert (meter.started_at, meter.ends_at) == (NOON, after(hours=1))


@pytest.mark.parametrize("hours", [0, -1])
def test_meter_ends_after_it_starts(run_meter, hours):
    with pytest.raises(ValueError, match="ends after it starts"):
        run_meter(ends_at=after(hours=hours))

    assert not Meter.objects.exists()


def test_meter_runs_in_the_currency_of_its_hold(run_meter):
    with pytest.raises(ValueError, match="currency"):
        run_meter(rate=Money(1, "EUR"))

    assert not Meter.objects.exists()


def test_r30_meter_cannot_outrun_its_hold(run_meter):
    run_meter(ends_at=after(hours=60))

    with pytest.raises(HoldTooSmall) as refusal:
        run_meter(ends_at=after(hours=40, seconds=18))  # 40.005 rounds up

    assert (refusal.value.needed, refusal.value.free) == (usd("40.01"), usd(40))
    run_meter(ends_at=after(hours=40, seconds=17))
    assert Meter.objects.count() == 2


def test_ended_hold_starts_nothing(hold, run_meter):
    release_hold(hold_id=hold.id, at=NOON, key="end")

    with pytest.raises(HoldEnded):
        run_meter()


def test_running_meters_are_told_with_what_they_are_for(run_meter):
    first = run_meter(name="compute", ends_at=after(hours=2))
    stopped = run_meter(name="old", ends_at=after(hours=2))
    stop_meter(meter_id=stopped.id, at=after(hours=1))

    (row,) = running_meters()

    assert (row.id, row.name, row.reference) == (first.id, "compute", "workspace:1")
    assert (row.started_at, row.ends_at) == (NOON, after(hours=2))
    assert row.billed_until == NOON
    assert meter_for_update(meter_id=first.id) == meter_of(meter_id=first.id)


# --- extending


def test_longer_meter_needs_a_larger_hold(run_meter):
    meter = run_meter(ends_at=after(hours=99))

    assert extend_meter(meter_id=meter.id, ends_at=after(hours=100)).ends_at == after(
        hours=100
    )
    with pytest.raises(HoldTooSmall) as refusal:
        extend_meter(meter_id=meter.id, ends_at=after(hours=101))

    assert (refusal.value.needed, refusal.value.free) == (usd(1), usd(0))
    assert meter_of(meter_id=meter.id).ends_at == after(hours=100)


def test_extending_to_the_same_end_changes_nothing(run_meter):
    meter = run_meter(ends_at=after(hours=100))

    assert extend_meter(meter_id=meter.id, ends_at=after(hours=100)) == meter_of(
        meter_id=meter.id
    )


def test_meter_is_not_shortened(run_meter):
    meter = run_meter(ends_at=after(hours=2))

    with pytest.raises(ValueError, match="stopped early"):
        extend_meter(meter_id=meter.id, ends_at=after(hours=1))

    assert meter_of(meter_id=meter.id).ends_at == after(hours=2)


def test_stopped_meter_is_not_extended(run_meter):
    meter = run_meter(ends_at=after(hours=2))
    stop_meter(meter_id=meter.id, at=after(hours=1))

    with pytest.raises(MeterEnded):
        extend_meter(meter_id=meter.id, ends_at=after(hours=3))


# --- shortening


def test_shorter_meter_frees_what_it_needs_no_more(hold, run_meter):
    meter = run_meter(ends_at=after(hours=100))
    bill_due(at=after(hours=1))

    for _ in range(2):
        shortened = shorten_meter(meter_id=meter.id, ends_at=after(hours=10))

    assert shortened.ends_at == after(hours=10)
    assert release_hold(hold_id=hold.id, amount=usd(90), key="r", at=NOON)


@pytest.mark.parametrize("hours", [1, 3])
def test_meter_is_shortened_within_what_is_not_billed(run_meter, hours):
    meter = run_meter(ends_at=after(hours=2, minutes=30))
    bill_due(at=after(hours=2))

    with pytest.raises(ValueError, match="not billed yet"):
        shorten_meter(meter_id=meter.id, ends_at=after(hours=hours))

    assert meter_of(meter_id=meter.id).ends_at == after(hours=2, minutes=30)


def test_stopped_meter_is_not_shortened(run_meter):
    meter = run_meter(ends_at=after(hours=2))
    stop_meter(meter_id=meter.id, at=after(hours=1))

    with pytest.raises(MeterEnded):
        shorten_meter(meter_id=meter.id, ends_at=after(hours=1))


# --- stopping


@pytest.mark.parametrize(
    ("rate", "start", "stop", "amount"),
    [
        pytest.param("2.49", "10:00:00", "10:47:00", "1.95", id="M49"),
        pytest.param("3.60", "09:59:00", "10:01:00", "0.12", id="M49-over-the-hour"),
        pytest.param("3.00", "10:00:00", "10:30:00", "1.50", id="M47"),
        pytest.param("1.00", "10:00:00", "10:00:00", "0.00", id="at once"),
        pytest.param("1.00", "10:00:00", "10:00:18", "0.01", id="half a cent"),
        pytest.param("1.00", "10:00:00", "10:00:17", "0.00", id="less"),
    ],
)
def test_stop_bills_to_the_second(run_meter, rate, start, stop, amount):
    day = NOON.replace(hour=0)
    start, stop = (
        day + timedelta(hours=int(t[:2]), minutes=int(t[3:5]), seconds=int(t[6:]))
        for t in (start, stop)
    )
    meter = run_meter(
        rate=usd(rate), started_at=start, ends_at=start + timedelta(days=1)
    )

    stopped = stop_meter(meter_id=meter.id, at=stop + timedelta(microseconds=900_000))

    assert stopped.billed_amount == usd(amount)
    assert stopped.stopped_at == stopped.billed_until == stop


def test_m49_two_minutes_over_the_hour_are_two_charges(run_meter):
    meter = run_meter(
        rate=usd("3.60"), started_at=after(minutes=-1), ends_at=after(hours=1)
    )

    stop_meter(meter_id=meter.id, at=after(minutes=1))

    rows = [
        (charge.hour, charge.from_at, charge.to_at, charge.seconds, charge.amount)
        for charge in charges_of(hold_id=meter.hold_id)
    ]
    assert rows == [
        (NOON, NOON, after(minutes=1), 60, usd("0.06")),
        (after(hours=-1), after(minutes=-1), NOON, 60, usd("0.06")),
    ]


def test_stopping_again_changes_nothing(run_meter):
    meter = run_meter()
    first = stop_meter(meter_id=meter.id, at=after(minutes=90))

    assert stop_meter(meter_id=meter.id, at=after(hours=9)) == first
    assert bill_due(at=after(days=9)).charges == 0
    assert first.billed_amount == usd("1.50")


def test_stop_never_bills_past_the_end(run_meter):
    meter = run_meter(ends_at=after(hours=2, minutes=30))

    stopped = stop_meter(meter_id=meter.id, at=after(hours=9))

    assert stopped.stopped_at == after(hours=2, minutes=30)
    assert stopped.billed_amount == usd("2.50")


def test_m48_stop_before_the_start_charges_nothing_and_is_flagged(run_meter):
    meter = run_meter()

    stopped = stop_meter(meter_id=meter.id, at=NOON - timedelta(seconds=3))

    assert (stopped.stopped_at, stopped.billed_amount) == (NOON, usd(0))
    assert not Charge.objects.exists()
    fault = MeterFault.objects.get()
    assert (fault.meter_id, fault.kind) == (meter.id, "STOPPED_BEFORE_BILLED")
    assert "11:59:57" in fault.detail


def test_m48_stop_before_the_billed_hour_charges_nothing_back(run_meter):
    meter = run_meter()
    bill_due(at=after(hours=3))

    stopped = stop_meter(meter_id=meter.id, at=after(hours=2, minutes=30))

    assert (stopped.stopped_at, stopped.billed_amount) == (after(hours=3), usd(3))
    assert MeterFault.objects.count() == 1


def test_interruption_makes_the_broken_hour_free(run_meter):
    meter = run_meter()
    bill_due(at=after(hours=1))

    stopped = stop_meter(
        meter_id=meter.id, at=after(hours=3, minutes=59), is_broken_hour_free=True
    )

    assert (stopped.stopped_at, stopped.billed_amount) == (after(hours=3), usd(3))
    assert not MeterFault.objects.exists()


def test_stop_that_the_hold_does_not_cover_is_refused(hold, run_meter, broken_books):
    meter = run_meter()
    Hold.objects.filter(pk=hold.id).update(captured="99.50")

    with pytest.raises(HoldTooSmall) as refusal:
        stop_meter(meter_id=meter.id, at=after(hours=1))

    assert (refusal.value.needed, refusal.value.free) == (usd(1), usd("0.50"))
    assert meter_of(meter_id=meter.id).stopped_at is None


# --- what a charge is


@pytest.mark.parametrize(
    ("rate", "fee_rate", "supplier", "fee"),
    [
        pytest.param("10.03", "0.125", "8.78", "1.25", id="M67"),
        pytest.param("1.00", "0.1", "0.90", "0.10", id="M51c"),
        ("0.01", "0.4", "0.01", "0.00"),
        ("0.01", "0.5", "0.00", "0.01"),
        ("1.00", "0", "1.00", "0.00"),
        ("1.00", "1", "0.00", "1.00"),
    ],
)
def test_charge_is_split_between_supplier_and_house(
    run_meter, rate, fee_rate, supplier, fee
):
    meter = run_meter(
        rate=usd(rate), fee_rate=Decimal(fee_rate), ends_at=after(hours=2)
    )

    bill_due(at=after(hours=1))

    (charge,) = charges_of(hold_id=meter.hold_id)
    assert charge.amount == usd(rate)
    assert (charge.supplier_amount, charge.fee_amount) == (usd(supplier), usd(fee))
    assert balance_of("PAYABLE", SUPPLIER) == Decimal(supplier)
    assert balance_of("FEES") == Decimal(fee)
    posted = Transfer.objects.filter(kind__in=["USAGE", "USAGE_FEE"])
    assert posted.count() == sum(Decimal(part) > 0 for part in (supplier, fee))
    assert all(row.happened_at == after(hours=1) for row in posted)
    assert len({row.group for row in posted}) == 1


def test_zero_cents_are_charged_but_not_posted(run_meter):
    meter = run_meter(rate=usd("0.0049"))

    bill_due(at=after(hours=1))

    (charge,) = charges_of(hold_id=meter.hold_id)
    assert (charge.amount, charge.seconds, charge.meter_name) == (
        usd(0),
        3600,
        meter.name,
    )
    assert not Transfer.objects.filter(kind__startswith="USAGE").exists()
    assert hold_of(hold_id=meter.hold_id).captured == usd(0)


def test_m54b_part_of_a_unit_is_billed(run_meter):
    terms = {"rate": usd(30), "period_seconds": 30 * DAY}
    first = run_meter(units=Decimal("0.25"), ends_at=after(days=10), **terms)
    second = run_meter(
        units=Decimal(1), started_at=after(days=10), ends_at=after(days=30), **terms
    )

    bill_due(at=after(days=30))

    amounts = [meter_of(meter_id=m.id).billed_amount for m in (first, second)]
    assert amounts == [usd("2.50"), usd("20.00")]


def test_rows_name_themselves(hold, run_meter):
    meter = run_meter(name="compute")
    bill_due(at=after(hours=1))
    stop_meter(meter_id=meter.id, at=NOON)

    rows = [
        Hold.objects.get(),
        Meter.objects.get(),
        Charge.objects.get(),
        MeterFault.objects.get(),
        Transfer.objects.filter(kind="USAGE").get(),
        UsedKey.objects.get(verb="place_hold"),
    ]

    assert [str(row) for row in rows] == [
        "workspace:1",
        f"compute of hold {hold.id}",
        f"meter {meter.id} at 2026-06-01 12:00",
        f"STOPPED_BEFORE_BILLED of meter {meter.id}",
        f"USAGE c{NOON.timestamp() // 3600:.0f}-{meter.id}-s",
        "place_hold workspace:1",
    ]
