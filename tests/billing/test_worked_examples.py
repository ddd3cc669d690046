"""
A customer's months, told as a bookkeeper would, with the sums worked out by hand.
"""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

from billing.models import Account, Transfer
from billing.services import (
    bill_due,
    capture_hold,
    charges_of,
    extend_hold,
    extend_meter,
    hold_of,
    meter_of,
    place_hold,
    release_hold,
    start_meter,
    stop_meter,
    wallets_of,
)
from tests.billing.conftest import HOUR, SUPPLIER, balance_of, usd

MONTH_OF_STORAGE = 730 * HOUR


def moment(day, hour=0, minute=0, second=0, month=6):
    return datetime(2026, month, day, hour, minute, second, tzinfo=UTC)


def purse(wallet):
    """
    Return what is free and what is held, as numbers.
    """
    (own,) = wallets_of(user_id=wallet.user_id)
    return own.available.amount, own.held.amount


def fund(wallet, amount, name="w:1", at=None):
    return place_hold(
        user_id=wallet.user_id,
        amount=usd(amount),
        reference=name,
        key=name,
        at=at or moment(1),
    )


def start(hold, name, rate, begin, end, **changes):
    terms = {
        "hold_id": hold.id,
        "name": name,
        "rate": usd(rate),
        "units": Decimal(1),
        "period_seconds": HOUR,
        "payee": SUPPLIER,
        "fee_rate": Decimal("0.1"),
        "started_at": begin,
        "ends_at": end,
        "key": f"{hold.reference}:{name}:{begin:%d%H%M}",
    }
    return start_meter(**{**terms, **changes})


def test_a_fine_tune_over_a_weekend(wallet, pay_in):
    """
    Eight hours of an RTX 4090 at 0.34 with 200 GB at 0.07 a GB-month, stopped early.
    """
    pay_in("100")

    # Compute 8 x 0.34 = 2.72; storage 200 x 0.07 x 8/730 = 0.1534; held: 2.87.
    hold = fund(wallet, "2.87")
    assert purse(wallet) == (Decimal("97.13"), Decimal("2.87"))

    begin, end = moment(6, 9, 20), moment(6, 17, 20)
    compute = start(hold, "compute", "0.34", begin, end)
    stored = {"units": Decimal(200), "period_seconds": MONTH_OF_STORAGE}
    storage = start(hold, "storage", "0.07", begin, end, **stored)

    # At 12:00 two full hours and 40 minutes: 0.34 x 2.6667 = 0.9067.
    bill_due(at=moment(6, 12, 5))
    assert meter_of(meter_id=compute.id).billed_amount == usd("0.91")
    assert purse(wallet) == (Decimal("97.13"), Decimal("1.91"))

    # Stopped after 5 h 10 min 30 s = 18 630 s: 0.34 x 5.175 = 1.7595.
    stopped_at = moment(6, 14, 30, 30)
    assert stop_meter(meter_id=compute.id, at=stopped_at).billed_amount == usd("1.76")
    # 14.00 x 18 630 / 2 628 000 = 0.0992.
    assert stop_meter(meter_id=storage.id, at=stopped_at).billed_amount == usd("0.10")

    ended = release_hold(hold_id=hold.id, key="w:1:end", at=stopped_at)
    assert (ended.status, ended.captured, ended.released) == (
        "CAPTURED",
        usd("1.86"),
        usd("1.01"),
    )
    assert purse(wallet) == (Decimal("98.14"), 0)
    assert balance_of("PAYABLE", SUPPLIER) + balance_of("FEES") == Decimal("1.86")
    assert len(charges_of(hold_id=hold.id)) == 12


def test_m51c_three_days_for_the_supplier(wallet, pay_in):
    """
    72 h at 1.00 and a fee of 10 %: the supplier has 64.80, the house 7.20.
    """
    pay_in("72")
    hold = fund(wallet, "72")
    start(hold, "compute", "1.00", moment(1), moment(4))

    for day in (2, 3, 4):
        bill_due(at=moment(day))

    assert balance_of("PAYABLE", SUPPLIER) == Decimal("64.80")
    assert balance_of("FEES") == Decimal("7.20")
    assert purse(wallet) == (0, 0)


def test_m52_resumed_on_other_hardware(wallet, pay_in):
    """
    3 h at 0.35 and then 3 h at 1.10 are 4.35, not six hours of either.
    """
    pay_in("10")
    hold = fund(wallet, "10")
    first = start(hold, "compute", "0.35", moment(1, 9), moment(1, 15))
    stop_meter(meter_id=first.id, at=moment(1, 12))
    start(hold, "compute", "1.10", moment(1, 12), moment(1, 15))

    bill_due(at=moment(1, 15))

    assert hold_of(hold_id=hold.id).captured == usd("4.35")


def test_m55_storage_outlives_compute(wallet, pay_in):
    """
    The machine goes at 10:00, its volume at 13:00: storage pays 10, 11 and 12.
    """
    pay_in("10")
    hold = fund(wallet, "10")
    compute = start(hold, "compute", "1.00", moment(1, 8), moment(1, 16))
    storage = start(hold, "storage", "0.10", moment(1, 8), moment(1, 16))
    stop_meter(meter_id=compute.id, at=moment(1, 10))
    stop_meter(meter_id=storage.id, at=moment(1, 13))

    bill_due(at=moment(1, 16))

    later = [c for c in charges_of(hold_id=hold.id) if c.hour >= moment(1, 10)]
    assert [(c.meter_name, c.hour.hour) for c in reversed(later)] == [
        ("storage", 10),
        ("storage", 11),
        ("storage", 12),
    ]


def test_m55b_stopped_from_ten_to_two(wallet, pay_in):
    """
    Compute rests for four hours, storage does not.
    """
    pay_in("10")
    hold = fund(wallet, "10")
    begin, end = moment(1, 8), moment(1, 16)
    compute = start(hold, "compute", "1.00", begin, moment(1, 12))
    start(hold, "storage", "0.10", begin, end)
    stop_meter(meter_id=compute.id, at=moment(1, 10))
    start(hold, "compute", "1.00", moment(1, 14), end)

    bill_due(at=end)

    by_meter = {
        name: [c.hour.hour for c in charges_of(hold_id=hold.id) if c.meter_name == name]
        for name in ("compute", "storage")
    }
    assert by_meter["compute"] == [15, 14, 9, 8]
    assert by_meter["storage"] == list(range(15, 7, -1))


def test_m56c_paused_twice_within_an_hour(wallet, pay_in):
    """
    The seconds that are billed are the seconds that ran: 10 + 15 + 20 minutes.
    """
    pay_in("10")
    hold = fund(wallet, "10")
    for begin, end in [(0, 10), (20, 35), (40, 60)]:
        meter = start(
            hold,
            "compute",
            "1.00",
            moment(1, 9, begin),
            moment(1, 11),
        )
        stop_meter(meter_id=meter.id, at=moment(1, 9) + timedelta(minutes=end))

    seconds = [c.seconds for c in charges_of(hold_id=hold.id)]
    assert seconds == [1200, 900, 600]
    # 0.33 + 0.25 + 0.17: each run is rounded once.
    assert hold_of(hold_id=hold.id).captured == usd("0.75")


def test_m82_a_new_price_does_not_rewrite_the_past(wallet, pay_in):
    """
    The price changes at 10:00; hour 9, billed late, still costs the old one.
    """
    pay_in("400")
    hold = fund(wallet, "400")
    old = start(hold, "compute", "0.50", moment(1, 9), moment(1, 12))
    stop_meter(meter_id=old.id, at=moment(1, 10))
    start(hold, "compute", "150.00", moment(1, 10), moment(1, 12))

    bill_due(at=moment(1, 12))
    bill_due(at=moment(1, 12))

    amounts = [c.amount for c in charges_of(hold_id=hold.id)]
    assert amounts == [usd(150), usd(150), usd("0.50")]


def test_a_month_that_is_extended_and_partly_unused(wallet, pay_in):
    """
    Two H100 at 2.88 for ten days, a licence paid at once, two days more, one day less.
    """
    pay_in("2000")
    # 2 x 2.88 x 240 h = 1382.40, and 50.00 for a licence.
    hold = fund(wallet, "1432.40")
    meter = start(hold, "compute", "2.88", moment(1), moment(11), units=Decimal(2))
    capture_hold(
        hold_id=hold.id,
        amount=usd(50),
        payee="supplier:licences",
        fee_rate=Decimal(0),
        key="w:1:licence",
        at=moment(1),
    )
    assert purse(wallet) == (Decimal("567.60"), Decimal("1382.40"))

    bill_due(at=moment(9))
    # Two days more: 2 x 2.88 x 48 = 276.48.
    extend_hold(hold_id=hold.id, amount=usd("276.48"), key="w:1:more", at=moment(9))
    extend_meter(meter_id=meter.id, ends_at=moment(13))
    assert purse(wallet) == (Decimal("291.12"), Decimal("552.96"))

    # Ended a day early: 11 days cost 1520.64.
    stop_meter(meter_id=meter.id, at=moment(12))
    ended = release_hold(hold_id=hold.id, key="w:1:end", at=moment(12))

    assert ended.captured == usd("1570.64")
    assert ended.released == usd("138.24")
    assert purse(wallet) == (Decimal("429.36"), 0)
    # 10 % of each hour's 5.76 is 0.58: 264 x 0.58 = 153.12.
    assert balance_of("FEES") == Decimal("153.12")
    assert balance_of("PAYABLE", "supplier:licences") == 50
    # In and out: 2000 came, and stands in these accounts.
    everything = Account.objects.exclude(kind="CLEARING")
    assert sum(a.balance.amount for a in everything) == 2000
    assert Transfer.objects.filter(kind="USAGE").count() == 264
