from datetime import timedelta
from decimal import Decimal

import pytest
from djmoney.money import Money

from billing.ledger import NotWholeCents
from billing.models import Hold, Transfer
from billing.services import (
    HoldEnded,
    HoldInUse,
    HoldTooSmall,
    InsufficientFunds,
    KeyReused,
    NoSuchWallet,
    ReferenceTaken,
    capture_hold,
    expire_holds,
    extend_hold,
    hold_of,
    place_hold,
    release_hold,
    stop_meter,
    wallets_of,
)
from billing.services.holds import _expire
from tests.billing.conftest import NOON, SUPPLIER, balance_of, make_wallet, usd


def place(wallet, amount="4", **changes):
    order = {
        "user_id": wallet.user_id,
        "amount": amount if isinstance(amount, Money) else usd(amount),
        "reference": "workspace:9",
        "key": "workspace:9",
        "at": NOON,
    }
    return place_hold(**{**order, **changes})


def capture(hold, amount="2", **changes):
    order = {
        "hold_id": hold.id,
        "amount": usd(amount),
        "payee": SUPPLIER,
        "fee_rate": Decimal("0.125"),
        "key": "capture:1",
        "at": NOON,
    }
    return capture_hold(**{**order, **changes})


def release(hold, amount=None, key="release:1", at=NOON):
    amount = None if amount is None else usd(amount)
    return release_hold(hold_id=hold.id, amount=amount, key=key, at=at)


def free_and_held(wallet):
    (own,) = wallets_of(user_id=wallet.user_id)
    return own.available.amount, own.held.amount


# --- placing


def test_placing_moves_available_to_held(wallet, pay_in):
    pay_in("10")

    hold = place(wallet)

    assert free_and_held(wallet) == (6, 4)
    assert (hold.status, hold.reference) == ("OPEN", "workspace:9")
    assert (hold.amount, hold.captured, hold.released) == (usd(4), usd(0), usd(0))
    assert hold.remaining == usd(4)


def test_placing_again_with_the_key_is_the_first_hold(wallet, pay_in):
    pay_in("10")

    assert place(wallet) == place(wallet, "4.00", at=NOON + timedelta(hours=1))
    assert free_and_held(wallet) == (6, 4)


@pytest.mark.parametrize("change", [{"amount": usd(5)}, {"reference": "workspace:8"}])
def test_placing_something_else_with_the_key_is_refused(wallet, pay_in, change):
    pay_in("10")
    place(wallet)

    with pytest.raises(KeyReused):
        place(wallet, **change)

    assert free_and_held(wallet) == (6, 4)


def test_one_reference_is_held_for_once(wallet, pay_in):
    pay_in("10")
    place(wallet)

    with pytest.raises(ReferenceTaken):
        place(wallet, key="another key")

    assert free_and_held(wallet) == (6, 4)


def test_refuses_more_than_is_free(wallet, pay_in):
    pay_in("3")

    with pytest.raises(InsufficientFunds) as refusal:
        place(wallet, "4")

    assert refusal.value.shortfall == usd(1)
    assert not Hold.objects.exists()
    assert free_and_held(wallet) == (3, 0)


def test_the_last_cent_can_be_held(wallet, pay_in):
    pay_in("3.01")

    place(wallet, "3.01")

    assert free_and_held(wallet) == (0, Decimal("3.01"))


@pytest.mark.parametrize(
    ("amount", "error"),
    [(usd("0"), ValueError), (usd("-1"), NotWholeCents), (usd("0.005"), NotWholeCents)],
)
def test_refuses_amounts_that_are_not_whole_cents(wallet, pay_in, amount, error):
    pay_in("3")

    with pytest.raises(error):
        place(wallet, amount=amount)

    assert free_and_held(wallet) == (3, 0)


def test_a_wallet_pays_in_its_own_currency_only(wallet, pay_in):
    pay_in("10")

    with pytest.raises(NoSuchWallet, match="EUR"):
        place(wallet, amount=Money(4, "EUR"))

    assert free_and_held(wallet) == (10, 0)


# --- taking from it


def test_m61_capture_leaves_the_rest_held(wallet, pay_in):
    pay_in("20")
    hold = place(wallet, "6")

    after = capture(hold, "2")

    assert free_and_held(wallet) == (14, 4)
    assert (after.captured, after.remaining) == (usd(2), usd(4))
    assert after.status == "OPEN"


@pytest.mark.parametrize(
    ("amount", "rate", "fee", "rest"),
    [
        pytest.param("400.00", "0.025", "10.00", "390.00", id="M65"),
        pytest.param("10.03", "0.125", "1.25", "8.78", id="M67"),
        pytest.param("0.01", "0.4", "0.00", "0.01", id="no fee"),
        pytest.param("0.01", "0.5", "0.01", "0.00", id="all fee"),
    ],
)
def test_capture_splits_to_the_cent(wallet, pay_in, amount, rate, fee, rest):
    pay_in(amount)
    hold = place(wallet, amount)

    capture(hold, amount, fee_rate=Decimal(rate))

    assert balance_of("FEES") == Decimal(fee)
    assert balance_of("PAYABLE", SUPPLIER) == Decimal(rest)


def test_capture_with_the_same_key_happens_once(wallet, pay_in):
    pay_in("20")
    hold = place(wallet, "6")

    assert capture(hold) == capture(hold)
    with pytest.raises(KeyReused):
        capture(hold, "3")

    assert free_and_held(wallet) == (14, 4)


def test_capture_of_more_than_remains_is_refused(wallet, pay_in):
    pay_in("20")
    hold = place(wallet, "6")

    with pytest.raises(HoldTooSmall):
        capture(hold, "6.01")

    assert free_and_held(wallet) == (14, 6)


def test_captured_hold_ends_as_captured(wallet, pay_in):
    pay_in("20")
    hold = place(wallet, "6")
    capture(hold, "6")

    ended = release(hold)

    assert (ended.status, ended.remaining) == ("CAPTURED", usd(0))
    assert free_and_held(wallet) == (14, 0)
    assert Transfer.objects.filter(kind="RELEASE").count() == 0


# --- giving it back


def test_partial_release_keeps_the_hold_open(wallet, pay_in):
    pay_in("20")
    hold = place(wallet, "6")

    after = release(hold, "1.50")

    assert (after.status, after.remaining) == ("OPEN", usd("4.50"))
    assert free_and_held(wallet) == (Decimal("15.50"), Decimal("4.50"))


def test_full_release_ends_the_hold_once(wallet, pay_in):
    pay_in("20")
    hold = place(wallet, "6")

    later = NOON + timedelta(hours=1)
    ended = release(hold, at=later)
    again = release(hold, key="release:2", at=later + timedelta(hours=1))

    assert (ended.status, ended.ended_at) == ("RELEASED", later)
    assert again == ended
    assert free_and_held(wallet) == (20, 0)
    assert Transfer.objects.filter(kind="RELEASE").count() == 1


def test_m28_same_release_three_times_gives_back_once(wallet, pay_in):
    pay_in("20")
    hold = place(wallet, "7")

    answers = [release(hold, "2") for _ in range(3)]

    assert answers == [answers[0]] * 3
    assert free_and_held(wallet) == (15, 5)
    with pytest.raises(KeyReused):
        release(hold, "3")


def test_release_of_more_than_remains_is_refused(wallet, pay_in):
    pay_in("20")
    hold = place(wallet, "6")

    with pytest.raises(HoldTooSmall) as refusal:
        release(hold, "6.01")

    assert (refusal.value.needed, refusal.value.free) == (usd("6.01"), usd(6))
    assert free_and_held(wallet) == (14, 6)


@pytest.mark.parametrize("verb", [capture, release])
def test_ended_hold_gives_nothing_more(wallet, pay_in, verb):
    pay_in("20")
    hold = place(wallet, "6")
    release(hold, key="end")

    with pytest.raises(HoldEnded):
        verb(hold, "1")

    assert free_and_held(wallet) == (20, 0)


def test_running_meter_keeps_what_it_needs(hold, run_meter):
    meter = run_meter()  # 48 hours at 1.00

    with pytest.raises(HoldInUse):
        release(hold)
    with pytest.raises(HoldInUse):
        release(hold, "52.01")
    with pytest.raises(HoldInUse):
        capture(hold, "52.01")
    assert release(hold, "52").remaining == usd(48)

    stop_meter(meter_id=meter.id, at=NOON + timedelta(hours=1))
    assert release(hold, key="end").status == "CAPTURED"


def test_m64_failed_duplicate_leaves_the_first_hold_alone(wallet, pay_in):
    pay_in("10")
    first = place(wallet, "5")

    with pytest.raises(KeyReused):
        place(wallet, "6")

    assert hold_of(hold_id=first.id) == first
    assert capture(first, "5").captured == usd(5)


# --- extending


def test_extension_is_held_on_top(wallet, pay_in):
    pay_in("10")
    hold = place(wallet, "4")

    order = {"hold_id": hold.id, "amount": usd(3), "key": "more:1", "at": NOON}
    assert extend_hold(**order) == extend_hold(**order)

    assert hold_of(hold_id=hold.id).amount == usd(7)
    assert free_and_held(wallet) == (3, 7)
    with pytest.raises(InsufficientFunds):
        extend_hold(**{**order, "amount": usd("3.01"), "key": "more:2"})
    assert free_and_held(wallet) == (3, 7)


def test_ended_hold_cannot_be_extended(wallet, pay_in):
    pay_in("10")
    hold = place(wallet, "4")
    release(hold)

    with pytest.raises(HoldEnded, match="fund it again"):
        extend_hold(hold_id=hold.id, amount=usd(3), key="more:1", at=NOON)


# --- falling due

IN_15_MINUTES = NOON + timedelta(minutes=15)


def test_m62_stranded_hold_comes_back_once(wallet, pay_in):
    pay_in("10")
    hold = place(wallet, "5.70", expires_at=IN_15_MINUTES)

    assert expire_holds(at=IN_15_MINUTES - timedelta(seconds=1)) == 0
    assert free_and_held(wallet) == (Decimal("4.30"), Decimal("5.70"))
    assert expire_holds(at=IN_15_MINUTES) == 1
    assert expire_holds(at=IN_15_MINUTES) == 0

    assert hold_of(hold_id=hold.id).status == "EXPIRED"
    assert free_and_held(wallet) == (10, 0)


def test_m64c_rest_of_a_part_used_hold_comes_back(wallet, pay_in):
    pay_in("8")
    hold = place(wallet, "8", expires_at=IN_15_MINUTES)
    capture(hold, "5")

    expire_holds(at=IN_15_MINUTES)

    assert free_and_held(wallet) == (3, 0)


def test_m64b_expired_hold_starts_nothing(wallet, pay_in, run_meter):
    pay_in("10")
    hold = place(wallet, "10", expires_at=IN_15_MINUTES)

    with pytest.raises(HoldEnded):
        run_meter(
            hold_id=hold.id,
            started_at=IN_15_MINUTES,
            ends_at=IN_15_MINUTES + timedelta(hours=1),
        )

    assert free_and_held(wallet)[1] == 110


def test_hold_with_a_meter_does_not_fall_due(wallet, pay_in, run_meter):
    pay_in("10")
    hold = place(wallet, "10", expires_at=IN_15_MINUTES)
    run_meter(hold_id=hold.id, ends_at=NOON + timedelta(hours=10))

    assert expire_holds(at=IN_15_MINUTES) == 0
    assert hold_of(hold_id=hold.id).status == "OPEN"


def test_hold_that_was_faster_than_its_expiry_is_left_alone(wallet, pay_in):
    pay_in("10")
    hold = place(wallet, "10", expires_at=IN_15_MINUTES)
    release(hold)

    assert _expire(hold.id, at=IN_15_MINUTES) is False
    assert hold_of(hold_id=hold.id).status == "RELEASED"


def test_strangers_money_is_untouched(wallet, pay_in):
    stranger = make_wallet("stranger@example.com")
    pay_in("10")
    pay_in("10", wallet=stranger)
    hold = place(wallet, "4")
    capture(hold, "1")
    release(hold)

    assert free_and_held(stranger) == (10, 0)
