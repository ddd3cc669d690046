"""
Automatic top-ups: opt-in, capped, stopped by a decline, one at a time.
"""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from post_office.models import Email

from billing import tasks
from billing.gateway import CardDeclined, GatewayError, OutcomeUnknown, ProviderObject
from billing.gateways.sandbox import DECLINING_CARD, SandboxGateway
from billing.models import AutoTopUp, Card, SandboxPayment, TopUp, VatRate
from billing.services import auto_top_ups as services
from billing.services.auto_top_ups import NoCard, run_due, switch_on
from billing.services.janitor import look_up_payments
from billing.services.profiles import save_profile
from billing.services.top_ups import TopUpRefused
from billing.services.wallets import freeze_wallet, unfreeze_wallet
from tests.billing import provider
from tests.billing.conftest import NOON, balance, pay, usd

Status = TopUp.Status


URL = "/wallet/USD/auto/"


def keep_card(user_id, card_ref="pm_1"):
    return Card.objects.create(
        user_id=user_id,
        provider="sandbox",
        customer_ref="cus_1",
        card_ref=card_ref,
        saved_at=NOON,
    )


def order(wallet, **changes):
    terms = {
        "user_id": wallet.user_id,
        "threshold": usd(10),
        "amount": usd(50),
        "monthly_cap": usd(120),
        "email": "renter@example.com",
        "language": "en",
        "at": NOON,
    }
    return switch_on(**terms | changes)


@pytest.fixture
def card(wallet):
    save_profile(user_id=wallet.user_id, country="FR")
    return keep_card(wallet.user_id)


@pytest.fixture
def auto(wallet, card):
    """
    50.00 below 10.00, 120.00 a month at most; 9.99 is available.
    """
    pay(wallet, "9.99", key="rest")
    return order(wallet)


def available(auto):
    return balance(auto.wallet.available_id)


def top_ups():
    return list(TopUp.objects.order_by("pk").values_list("status", flat=True))


def test_charges_net_and_vat_and_credits_the_net(auto):
    assert run_due(at=NOON) == 1

    top_up = TopUp.objects.get()
    assert top_up.status == Status.PAID
    assert top_up.kind == TopUp.Kind.AUTO
    assert top_up.total == usd(60)
    assert available(auto) == Decimal("59.99")
    assert SandboxPayment.objects.get().total == usd(60)


def test_leaves_a_wallet_with_enough(auto):
    pay(auto.wallet, "0.01", key="enough")

    assert run_due(at=NOON) == 0
    assert not TopUp.objects.exists()


def test_r1_is_off_until_switched_on(wallet, card):
    assert run_due(at=NOON) == 0
    assert not AutoTopUp.objects.exists()


def test_needs_a_card(wallet):
    with pytest.raises(NoCard):
        order(wallet)

    assert not AutoTopUp.objects.exists()


@pytest.mark.parametrize(
    "changes",
    [
        {"amount": usd("4.99")},
        {"amount": usd("10000.01"), "monthly_cap": usd(20000)},
        {"monthly_cap": usd("49.99")},
    ],
)
def test_amounts_have_limits(wallet, card, changes):
    with pytest.raises(TopUpRefused):
        order(wallet, **changes)

    assert not AutoTopUp.objects.exists()


def drain(auto):
    """
    Leave less than the threshold, as spending does.
    """
    AutoTopUp.objects.update(threshold=available(auto) + 1)


def test_cap_holds_and_is_told_once_a_month(auto):
    for _ in range(2):
        run_due(at=NOON)
        drain(auto)
    assert run_due(at=NOON) == 0
    assert run_due(at=NOON + timedelta(hours=1)) == 0

    assert top_ups() == [Status.PAID, Status.PAID]
    capped = Email.objects.filter(subject__contains="cap")
    assert capped.count() == 1
    assert "$120.00 leaves no room" in capped.get().message
    assert AutoTopUp.objects.get().is_on

    assert run_due(at=datetime(2026, 7, 1, tzinfo=UTC)) == 1


def test_cap_is_told_again_the_next_month(auto):
    AutoTopUp.objects.update(monthly_cap=50)
    run_due(at=NOON)
    drain(auto)
    run_due(at=NOON)
    july = datetime(2026, 7, 2, tzinfo=UTC)
    run_due(at=july)
    drain(auto)
    run_due(at=july)

    assert Email.objects.filter(subject__contains="cap").count() == 2


def test_r32_r34_decline_stops_it_and_is_told_the_first_time(auto):
    Card.objects.update(card_ref=DECLINING_CARD)

    run_due(at=NOON)
    run_due(at=NOON + timedelta(minutes=1))

    assert top_ups() == [Status.FAILED]
    stopped = AutoTopUp.objects.get()
    assert not stopped.is_on
    assert stopped.stop_reason == "The card was declined."
    mail = Email.objects.get()
    assert mail.subject == "Your automatic top-ups have stopped"
    assert "The card was declined." in mail.message
    assert "/wallet/USD/auto/" in mail.message
    assert available(auto) == Decimal("9.99")


@pytest.mark.parametrize("error", [GatewayError("Refused."), CardDeclined("No.")])
def test_refusal_stops_it(auto, monkeypatch, error):
    def refuse(self, order):
        raise error

    monkeypatch.setattr(SandboxGateway, "charge_card", refuse)
    run_due(at=NOON)

    assert top_ups() == [Status.FAILED]
    assert not AutoTopUp.objects.get().is_on


def answer_with(monkeypatch, status):
    def charge(self, order):
        body = {"id": "pi_1", "status": status}
        return ProviderObject(kind="payment_intent", body=body)

    monkeypatch.setattr(SandboxGateway, "charge_card", charge)


def test_bank_that_wants_a_confirmation_stops_it(auto, monkeypatch):
    answer_with(monkeypatch, "requires_action")

    run_due(at=NOON)

    assert AutoTopUp.objects.get().stop_reason.startswith("Your bank wants you")


def test_payment_on_its_way_is_awaited(auto, monkeypatch):
    answer_with(monkeypatch, "processing")

    run_due(at=NOON)
    assert run_due(at=NOON) == 0

    assert TopUp.objects.get().status == Status.PROCESSING
    assert available(auto) == Decimal("9.99")
    provider.tell("payment_intent.succeeded", provider.intent(TopUp.objects.get()))
    assert available(auto) == Decimal("59.99")


@pytest.mark.parametrize("status", ["requires_payment_method", "canceled"])
def test_payment_on_its_way_that_fails_stops_it(auto, monkeypatch, status):
    answer_with(monkeypatch, "processing")
    run_due(at=NOON)

    def fetch(self, kind, provider_ref):
        body = provider.intent(
            TopUp.objects.get(),
            status=status,
            amount_received=0,
            last_payment_error={"message": "No funds."},
        )
        return ProviderObject(kind=kind, body=body)

    monkeypatch.setattr(SandboxGateway, "fetch", fetch)
    look_up_payments(at=NOON + timedelta(minutes=11))
    assert top_ups() == [Status.FAILED]

    assert run_due(at=NOON + timedelta(minutes=12)) == 0
    assert AutoTopUp.objects.get().stop_reason == "No funds."


def test_m72_lost_answer_is_asked_for_under_the_same_key(auto, monkeypatch):
    real, keys = SandboxGateway.charge_card, []

    def lose(self, order):
        keys.append(order.key)
        real(self, order)
        raise OutcomeUnknown

    monkeypatch.setattr(SandboxGateway, "charge_card", lose)
    run_due(at=NOON)
    assert top_ups() == [Status.UNKNOWN]
    assert run_due(at=NOON) == 0

    monkeypatch.setattr(SandboxGateway, "charge_card", real)
    assert look_up_payments(at=NOON + timedelta(seconds=61)) == 1

    assert top_ups() == [Status.PAID]
    assert keys == [f"auto:{TopUp.objects.get().uuid}"]
    assert SandboxPayment.objects.count() == 1
    assert available(auto) == Decimal("59.99")


def test_late_decline_does_not_undo_a_payment(auto, monkeypatch):
    run_due(at=NOON)
    TopUp.objects.update(card_ref=DECLINING_CARD)

    services.charge(top_up_id=TopUp.objects.get().pk, at=NOON)

    assert top_ups() == [Status.PAID]
    assert AutoTopUp.objects.get().is_on


def test_only_one_is_open_even_past_the_service(auto, monkeypatch):
    answer_with(monkeypatch, "processing")
    run_due(at=NOON)
    monkeypatch.setattr(services, "_is_due", lambda auto: True)

    with pytest.raises(Exception, match="top_up_one_open_automatic"):
        services._start(auto.pk, at=NOON)


def test_frozen_wallet_is_left(auto):
    owner = {"user_id": auto.wallet.user_id, "currency": "USD"}
    freeze_wallet(**owner, at=NOON)

    assert run_due(at=NOON) == 0
    unfreeze_wallet(**owner)


def test_card_that_is_gone_stops_it(auto, card):
    card.delete()

    assert run_due(at=NOON) == 0
    assert "no saved card" in AutoTopUp.objects.get().stop_reason


def test_asking_again_says_the_same_whatever_card_is_saved_now(auto, monkeypatch):
    asked = []

    def lose(self, order):
        asked.append(order)
        raise OutcomeUnknown

    monkeypatch.setattr(SandboxGateway, "charge_card", lose)
    run_due(at=NOON)
    Card.objects.update(card_ref="pm_2")
    look_up_payments(at=NOON + timedelta(seconds=61))

    assert len(asked) == 2
    assert asked[0] == asked[1]
    assert asked[0].card_ref == "pm_1"


def test_daily_limit_stops_it(auto, settings):
    settings.TOP_UP_DAILY_LIMIT = 49

    assert run_due(at=NOON) == 0
    assert "in 24 hours" in AutoTopUp.objects.get().stop_reason


def test_missing_vat_rate_stops_it(auto):
    VatRate.objects.filter(country="FR").delete()

    assert run_due(at=NOON) == 0
    assert "VAT rate" in AutoTopUp.objects.get().stop_reason


def test_top_up_that_saves_the_card(wallet):
    save_profile(user_id=wallet.user_id, country="FR")
    top_up = provider.quote(wallet, country="FR")
    TopUp.objects.update(saves_card=True)
    top_up = provider.confirm_top_up(top_up_id=top_up.pk, at=NOON)
    assert top_up.customer_ref.startswith("cus_")
    body = provider.intent(
        top_up, customer=top_up.customer_ref, payment_method="pm_new"
    )

    provider.tell("payment_intent.succeeded", body)
    services.describe_cards()

    card = Card.objects.get()
    assert (card.customer_ref, card.card_ref) == (top_up.customer_ref, "pm_new")
    assert str(card) == "Sandbox •••• 4242"


def test_second_saved_card_keeps_the_customer(wallet, card):
    top_up = provider.quote(wallet, country="FR")
    TopUp.objects.update(saves_card=True)

    top_up = provider.confirm_top_up(top_up_id=top_up.pk, at=NOON)

    assert top_up.customer_ref == "cus_1"


def test_top_up_that_saves_nothing(wallet):
    top_up = provider.pending(wallet)
    body = provider.intent(top_up, customer="cus_9", payment_method="pm_9")

    provider.tell("payment_intent.succeeded", body)

    assert not Card.objects.exists()


def test_card_that_cannot_be_described_yet(card, monkeypatch):
    def lose(self, card_ref):
        raise OutcomeUnknown

    monkeypatch.setattr(SandboxGateway, "describe_card", lose)
    services.describe_cards()

    assert str(Card.objects.get()) == "pm_1"


def test_task_runs_it(auto):
    tasks.top_up_automatically()

    assert top_ups() == [Status.PAID]
    assert Card.objects.get().label == "Sandbox •••• 4242"
    assert str(AutoTopUp.objects.get()) == "$50.00 below $10.00"
