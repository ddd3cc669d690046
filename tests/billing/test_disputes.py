from datetime import timedelta
from decimal import Decimal
from itertools import permutations

import pytest

from billing.models import Dispute, ProviderEvent, Wallet
from billing.services import capture_hold, place_hold
from billing.services.disputes import references_to_stop
from billing.services.events import process_due
from tests.billing import provider
from tests.billing.conftest import NOON, SUPPLIER, balance, balance_of, usd

CREATED = "charge.dispute.created"
CLOSED = "charge.dispute.closed"
State = ProviderEvent.State
Status = Dispute.Status


@pytest.fixture
def top_up(wallet):
    return provider.paid(wallet, "200.00")


def available(top_up):
    return balance(top_up.wallet.available_id)


def is_frozen(top_up):
    return Wallet.objects.get(pk=top_up.wallet_id).frozen_at is not None


def spend(wallet, amount):
    hold = place_hold(
        user_id=wallet.user_id,
        amount=usd(amount),
        reference="workspace:spent",
        key="spend",
        at=NOON,
    )
    capture_hold(
        hold_id=hold.id,
        amount=usd(amount),
        payee=SUPPLIER,
        fee_rate=Decimal(0),
        key="spend",
        at=NOON,
    )


def test_m23_dispute_after_spending_leaves_a_debt(top_up):
    spend(top_up.wallet, "35.00")

    provider.tell(CREATED, provider.dispute(top_up, minor=20000))

    assert available(top_up) == Decimal("-35.00")
    assert is_frozen(top_up)
    assert balance_of("WRITE_OFFS") == Decimal("-15.00")
    assert balance_of("CLEARING", "sandbox") == Decimal("15.00")


def test_takes_the_vat_back_too(wallet):
    top_up = provider.paid(wallet, "100.00", country="FR")

    provider.tell(CREATED, provider.dispute(top_up, minor=12000))

    assert available(top_up) == 0
    assert balance_of("TAX") == 0


def test_m25_dispute_that_names_only_the_charge(top_up):
    body = provider.dispute(top_up, minor=20000, payment_intent=None)

    provider.tell(CREATED, body)

    assert available(top_up) == 0


def test_m25_dispute_of_an_unknown_payment_is_kept_for_a_person(top_up):
    body = provider.dispute(top_up, minor=500, payment_intent=None, charge="ch_other")

    row = provider.tell(CREATED, body)
    assert row.state == State.PARKED
    process_due(at=NOON + timedelta(days=3, seconds=1))

    row.refresh_from_db()
    assert row.state == State.QUARANTINED
    assert available(top_up) == Decimal("200.00")
    assert not is_frozen(top_up)


def test_repeated_and_later_events_take_once(top_up):
    body = provider.dispute(top_up, minor=20000)

    provider.tell(CREATED, body)
    provider.tell("charge.dispute.funds_withdrawn", body)
    provider.tell(CREATED, body)

    assert available(top_up) == 0
    assert Dispute.objects.count() == 1


def test_bank_that_only_asks_takes_nothing(top_up):
    body = provider.dispute(top_up, minor=20000, status="warning_needs_response")

    provider.tell(CREATED, body)

    assert available(top_up) == Decimal("200.00")
    assert not is_frozen(top_up)


@pytest.mark.parametrize("order", list(permutations(["needs_response", "won"])))
def test_won_in_any_order_gives_everything_back(top_up, order):
    for status in order:
        provider.tell(CLOSED, provider.dispute(top_up, minor=20000, status=status))

    assert Dispute.objects.get().status == Status.WON
    assert available(top_up) == Decimal("200.00")
    assert not is_frozen(top_up)


def test_lost_stays_frozen(top_up):
    provider.tell(CREATED, provider.dispute(top_up, minor=20000))
    provider.tell(CLOSED, provider.dispute(top_up, minor=20000, status="lost"))
    provider.tell(CLOSED, provider.dispute(top_up, minor=20000, status="won"))

    dispute = Dispute.objects.get()
    assert dispute.status == Status.LOST
    assert dispute.closed_at == NOON
    assert available(top_up) == 0
    assert is_frozen(top_up)


def test_stays_frozen_while_another_dispute_stands(wallet):
    first, second = provider.paid(wallet, "20.00"), provider.paid(wallet, "30.00")
    provider.tell(CREATED, provider.dispute(first, minor=2000))
    provider.tell(CREATED, provider.dispute(second, minor=3000))

    provider.tell(CLOSED, provider.dispute(first, minor=2000, status="won"))
    assert is_frozen(first)

    provider.tell(CLOSED, provider.dispute(second, minor=3000, status="won"))
    assert not is_frozen(first)
    assert available(first) == Decimal("50.00")


def test_disputed_money_cannot_be_refunded_as_well(top_up):
    provider.tell(CREATED, provider.dispute(top_up, minor=20000))

    row = provider.tell("charge.refunded", provider.charge(top_up, refunded=100))

    assert row.state == State.QUARANTINED
    assert available(top_up) == 0


def test_other_currency_waits_for_a_person(top_up):
    row = provider.tell(CREATED, provider.dispute(top_up, minor=200, currency="eur"))

    assert row.state == State.QUARANTINED
    assert not is_frozen(top_up)


def test_names_what_has_to_stop(top_up):
    place_hold(
        user_id=top_up.wallet.user_id,
        amount=usd(50),
        reference="workspace:running",
        key="running",
        at=NOON,
    )
    assert references_to_stop() == []

    provider.tell(CREATED, provider.dispute(top_up, minor=20000))

    assert references_to_stop() == ["workspace:running"]
    assert available(top_up) == Decimal("-50.00")
