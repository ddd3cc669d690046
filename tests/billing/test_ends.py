from datetime import timedelta
from decimal import Decimal

import pytest

from billing import tasks
from billing.models import EndWarning, Meter
from billing.services import (
    HoldEnded,
    InsufficientFunds,
    KeyReused,
    MeterEnded,
    WalletFrozen,
    bill_due,
    ends,
    extend_automatically,
    extend_hold,
    extend_running,
    hold_of,
    mark_warning_sent,
    meter_of,
    place_hold,
    release_hold,
    set_auto_extend,
    stop_meter,
    unsent_warnings,
    wallets_of,
    warn_of_ends,
)
from billing.services.wallets import freeze_wallet
from tests.billing.conftest import DAY, NOON, usd


def after(**time):
    return NOON + timedelta(**time)


ENDS_AT = after(hours=48)


def extend(hold, hours=1, key="more:1"):
    return extend_running(
        hold_id=hold.id, by=timedelta(hours=hours), key=key, at=after(hours=1)
    )


def free(wallet):
    return wallets_of(user_id=wallet.user_id)[0].available.amount


# --- extending


@pytest.fixture
def tight(wallet, pay_in, run_meter):
    """
    A hold of 10.00 that one meter uses up in ten hours, and 5.00 more in the wallet.
    """
    pay_in("15")
    hold = place_hold(
        user_id=wallet.user_id,
        amount=usd(10),
        reference="w:tight",
        key="w:tight",
        at=NOON,
    )
    run_meter(hold_id=hold.id, name="compute", ends_at=after(hours=10))
    return hold


def test_what_is_reserved_does_not_pay_for_longer(tight, wallet):
    """
    Of 12.00 two are reserved, so that the eleventh hour costs another 1.00.
    """
    extend_hold(hold_id=tight.id, amount=usd(2), key="to go on", at=NOON)

    hold = extend_running(
        hold_id=tight.id,
        by=timedelta(hours=1),
        key="longer",
        at=NOON,
        reserved=usd(2),
    )

    assert hold.amount == usd(13)
    assert free(wallet) == Decimal(2)


def ends_of(hold):
    meters = Meter.objects.filter(hold_id=hold.id).order_by("pk")
    return [meter.ends_at for meter in meters]


def test_extension_is_paid_from_the_wallet(wallet, tight):
    assert extend(tight, hours=3).amount == usd(13)

    assert ends_of(tight) == [after(hours=13)]
    assert free(wallet) == 2


def test_extension_uses_what_is_free_in_the_hold_first(wallet, hold, run_meter):
    run_meter(ends_at=after(hours=98))

    assert extend(hold, hours=2).amount == usd(100)
    with pytest.raises(InsufficientFunds) as refusal:
        extend(hold, hours=1, key="more:2")

    assert refusal.value.needed == usd(1)
    assert ends_of(hold) == [after(hours=100)]


def test_every_running_meter_is_extended_alike(wallet, tight, run_meter, pay_in):
    pay_in("10")
    storage = run_meter(
        hold_id=extend_hold_by(tight, 7),
        name="storage",
        rate=usd(73),
        period_seconds=730 * 3600,
        ends_at=after(hours=70),
    )
    stopped = run_meter(
        hold_id=tight.id, name="old", rate=usd(0), ends_at=after(hours=1)
    )
    stop_meter(meter_id=stopped.id, at=after(minutes=5))

    extend(tight, hours=1)

    assert ends_of(tight) == [after(hours=11), after(hours=71), after(minutes=60)]
    # One hour of each: 1.00 and 0.10.
    assert hold_of(hold_id=tight.id).amount == usd("18.10")
    assert meter_of(meter_id=storage.id).ends_at == after(hours=71)


def extend_hold_by(hold, amount):
    return extend_hold(hold_id=hold.id, amount=usd(amount), key="s", at=NOON).id


def test_same_extension_happens_once(wallet, tight):
    assert extend(tight) == extend(tight)
    with pytest.raises(KeyReused):
        extend(tight, hours=2)

    assert ends_of(tight) == [after(hours=11)]
    assert free(wallet) == 4


def test_extension_beyond_the_wallet_changes_nothing(wallet, tight):
    with pytest.raises(InsufficientFunds) as refusal:
        extend(tight, hours=6)

    assert refusal.value.shortfall == usd(1)
    assert ends_of(tight) == [after(hours=10)]
    assert free(wallet) == 5


@pytest.mark.parametrize(
    "by", [timedelta(), timedelta(hours=-1), timedelta(microseconds=1)]
)
def test_extension_is_whole_seconds_forward(tight, by):
    with pytest.raises(ValueError, match="whole seconds"):
        extend_running(hold_id=tight.id, by=by, key="x", at=NOON)

    assert ends_of(tight) == [after(hours=10)]


def test_nothing_that_stands_is_extended(tight):
    meter = Meter.objects.get(hold_id=tight.id)
    stop_meter(meter_id=meter.pk, at=after(hours=1))

    with pytest.raises(MeterEnded):
        extend(tight)
    release_hold(hold_id=tight.id, key="end", at=after(hours=1))
    with pytest.raises(HoldEnded):
        extend(tight)


# --- extending automatically


def auto(at):
    (extension,) = extend_automatically(at=at)
    return extension.ends_at, type(extension.refusal)


def test_next_hour_is_held_before_the_current_one_ends(wallet, tight):
    set_auto_extend(hold_id=tight.id, is_on=True)

    assert extend_automatically(at=after(hours=8, minutes=59)) == []
    assert auto(after(hours=9)) == (after(hours=11), type(None))
    assert extend_automatically(at=after(hours=9)) == []

    assert free(wallet) == 4
    assert not EndWarning.objects.exists()


def test_extends_hour_by_hour_while_the_wallet_covers_it(wallet, tight):
    set_auto_extend(hold_id=tight.id, is_on=True)

    for minutes in range(9 * 60, 16 * 60, 10):
        extend_automatically(at=after(minutes=minutes))
        bill_due(at=after(minutes=minutes))

    assert ends_of(tight) == [after(hours=15)]
    assert free(wallet) == 0
    assert hold_of(hold_id=tight.id).captured == usd(15)
    assert Meter.objects.get(hold_id=tight.id).stopped_at == after(hours=15)


def test_refusal_is_warned_of_once(wallet, tight, pay_in):
    set_auto_extend(hold_id=tight.id, is_on=True)
    extend(tight, hours=5)

    for minutes in (0, 1, 2):
        assert auto(after(hours=14, minutes=minutes)) == (
            after(hours=15),
            InsufficientFunds,
        )

    (warning,) = unsent_warnings()
    assert (warning.reference, warning.hours_before) == ("w:tight", 1)
    assert (warning.meter_name, warning.ends_at) == ("compute", after(hours=15))


def test_m51_payment_in_the_last_second_prevents_the_stop(
    wallet, tight, pay_in, settings
):
    set_auto_extend(hold_id=tight.id, is_on=True)
    extend(tight, hours=5)
    auto(after(hours=14, minutes=59))

    pay_in("1.00", at=after(hours=14, minutes=59, seconds=59))
    extend_automatically(at=after(hours=15))
    bill_due(at=after(hours=15))

    meter = Meter.objects.get(hold_id=tight.id)
    assert (meter.stopped_at, meter.ends_at) == (None, after(hours=16))


def test_m51_r31_meter_stops_on_time_whatever_becomes_of_the_mail(tight):
    warn_of_ends(at=after(hours=9))

    bill_due(at=after(hours=10))

    assert Meter.objects.get(hold_id=tight.id).stopped_at == after(hours=10)
    assert len(unsent_warnings()) == 1


def test_after_an_outage_the_missed_hours_are_held(wallet, tight):
    set_auto_extend(hold_id=tight.id, is_on=True)

    assert auto(after(hours=12, minutes=30)) == (after(hours=14), type(None))

    assert free(wallet) == 1


def test_what_is_stopped_meanwhile_is_not_extended(wallet, tight, monkeypatch):
    set_auto_extend(hold_id=tight.id, is_on=True)
    stale = ends._first_to_end(tight.id)
    stop_meter(meter_id=stale.pk, at=after(hours=9))

    assert ends._extend_while_covered(tight.id, at=after(hours=9)) is None
    monkeypatch.setattr(ends, "_first_to_end", lambda hold_id: stale)
    assert ends._extend_while_covered(tight.id, at=after(hours=9)) is None

    assert free(wallet) == 5


def test_frozen_wallet_extends_nothing(wallet, tight):
    set_auto_extend(hold_id=tight.id, is_on=True)
    freeze_wallet(user_id=wallet.user_id, currency="USD", at=NOON)

    assert auto(after(hours=9)) == (after(hours=10), WalletFrozen)


def test_switched_off_it_extends_nothing(wallet, tight):
    set_auto_extend(hold_id=tight.id, is_on=True)
    set_auto_extend(hold_id=tight.id, is_on=False)

    assert extend_automatically(at=after(hours=9)) == []


def test_ended_hold_cannot_be_switched(tight):
    stop_meter(meter_id=Meter.objects.get(hold_id=tight.id).pk, at=after(hours=1))
    release_hold(hold_id=tight.id, key="end", at=after(hours=1))

    with pytest.raises(HoldEnded):
        set_auto_extend(hold_id=tight.id, is_on=True)


# --- warnings


def warned():
    rows = EndWarning.objects.order_by("pk").values_list("hours_before", flat=True)
    return list(rows)


def test_r32_warns_at_24_6_and_1_hours_once_each(run_meter):
    run_meter(ends_at=ENDS_AT)

    for minutes in range(0, 49 * 60, 10):
        warn_of_ends(at=after(minutes=minutes))

    assert warned() == [24, 6, 1]
    times = EndWarning.objects.order_by("pk").values_list("warned_at", flat=True)
    assert [ENDS_AT - t for t in times] == [timedelta(hours=h) for h in (24, 6, 1)]


def test_after_an_outage_only_the_nearest_is_told(run_meter):
    run_meter(ends_at=ENDS_AT)

    warn_of_ends(at=ENDS_AT - timedelta(minutes=30))

    assert warned() == [1]


def test_no_warning_of_what_was_never_longer(run_meter):
    run_meter(ends_at=after(hours=5))

    warn_of_ends(at=NOON)
    assert warned() == []
    warn_of_ends(at=after(hours=4))
    assert warned() == [1]


def test_no_warning_after_the_end_or_of_a_stopped_meter(run_meter):
    run_meter(ends_at=ENDS_AT)
    stopped = run_meter(ends_at=ENDS_AT)
    stop_meter(meter_id=stopped.id, at=after(hours=1))

    warn_of_ends(at=ENDS_AT)

    assert warned() == []
    warn_of_ends(at=ENDS_AT - timedelta(seconds=1))
    assert warned() == [1]


def test_only_an_extension_arms_the_warnings_again(hold, run_meter):
    run_meter(ends_at=ENDS_AT)
    for _ in range(2):
        warn_of_ends(at=ENDS_AT - timedelta(hours=5))

    extend(hold, hours=24)
    warn_of_ends(at=ENDS_AT - timedelta(hours=5))
    warn_of_ends(at=ENDS_AT + timedelta(hours=19))

    assert warned() == [6, 6]


def test_automatic_extension_stands_in_for_warnings(hold, run_meter):
    run_meter(ends_at=ENDS_AT)
    set_auto_extend(hold_id=hold.id, is_on=True)

    warn_of_ends(at=ENDS_AT - timedelta(hours=5))

    assert warned() == []


def test_warning_is_sent_once(run_meter):
    run_meter(ends_at=ENDS_AT)
    warn_of_ends(at=ENDS_AT - timedelta(hours=5))
    (warning,) = unsent_warnings()

    sent = [mark_warning_sent(warning_id=warning.id, at=NOON) for _ in range(2)]

    assert sent == [True, False]
    assert unsent_warnings() == []
    assert str(EndWarning.objects.get()).startswith("6 h before the end of meter")


def test_storage_is_warned_of_before_it_is_deleted(run_meter):
    run_meter(
        name="storage",
        rate=usd(14),
        period_seconds=730 * 3600,
        units=Decimal(1),
        ends_at=NOON + timedelta(seconds=7 * DAY),
    )

    for hours in range(7 * 24):
        warn_of_ends(at=after(hours=hours))

    assert warned() == [24, 6, 1]


def test_task_does_it_all(wallet, tight, settings):
    settings.DEMO_CLOCK_FILE = None
    set_auto_extend(hold_id=tight.id, is_on=True)

    tasks.bill_due()

    # The clock is far past the end: five hours more were covered, then it stopped.
    assert Meter.objects.get(hold_id=tight.id).stopped_at == after(hours=15)
    assert free(wallet) == 0
    assert warned() == [1]
