from datetime import timedelta
from decimal import Decimal
from uuid import uuid4

import pytest
from djmoney.money import Money

from billing.gateway import GatewayError, OutcomeUnknown
from billing.gateways import sandbox
from billing.gateways.sandbox import SandboxGateway
from billing.ledger import KeyReused
from billing.models import ProviderEvent, Refund, TopUp, Transfer
from billing.services import place_hold
from billing.services.events import process_due
from billing.services.janitor import look_up_payments
from billing.services.payments import NeedsPerson
from billing.services.refunds import (
    RefundRefused,
    ask_provider,
    refund_payment,
    split_back,
)
from billing.services.wallets import (
    InsufficientFunds,
    WalletFrozen,
    freeze_wallet,
    unfreeze_wallet,
)
from tests.billing import provider
from tests.billing.conftest import NOON, balance, balance_of, make_wallet, usd

State = ProviderEvent.State
Status = Refund.Status


@pytest.fixture
def top_up(wallet):
    """
    100.00 net and 19.00 VAT, paid.
    """
    return provider.paid(wallet, country="DE")


@pytest.fixture
def real_top_up(wallet):
    """
    The same, paid on the sandbox's page, so that the sandbox can refund it.
    """
    row = provider.pending(wallet, country="DE")
    reference = row.provider_ref.removeprefix("cs_test_")
    payment = sandbox.pay(reference=reference, at=NOON)
    provider.tell(
        "checkout.session.completed",
        provider.session_of(row, payment),
    )
    return TopUp.objects.get(pk=row.pk)


def refund(top_up, net, *, key="refund-1", at=NOON):
    return refund_payment(top_up_id=top_up.pk, net=usd(net), key=key, at=at)


def available(top_up):
    return balance(top_up.wallet.available_id)


def test_r56_gives_back_net_and_its_vat_where_they_came_from(real_top_up):
    done = refund(real_top_up, "40.00")

    assert (done.net, done.vat, done.total) == (usd("40.00"), usd("7.60"), usd("47.60"))
    assert done.status == Status.DONE
    assert available(real_top_up) == Decimal("60.00")
    assert balance_of("TAX") == Decimal("11.40")
    assert balance_of("CLEARING", "sandbox") == Decimal("-71.40")
    assert str(done) == "$47.60 Refunded"
    after = TopUp.objects.get()
    assert after.refundable_net == usd("60.00")
    assert after.state_label == "Partly refunded"


def test_refunding_everything_leaves_nothing(real_top_up):
    refund(real_top_up, "33.33", key="1")
    refund(real_top_up, "33.33", key="2")
    refund(real_top_up, "33.34", key="3")

    assert available(real_top_up) == 0
    assert balance_of("TAX") == 0
    assert balance_of("CLEARING", "sandbox") == 0
    assert TopUp.objects.get().state_label == "Refunded"


def test_m28_repeating_a_refund_gives_the_first(real_top_up):
    refunds = {refund(real_top_up, "7.00").pk for _ in range(3)}

    assert len(refunds) == 1
    assert available(real_top_up) == Decimal("93.00")


def test_key_stands_for_one_refund(real_top_up):
    refund(real_top_up, "7.00")

    with pytest.raises(KeyReused):
        refund(real_top_up, "8.00")

    assert available(real_top_up) == Decimal("93.00")


@pytest.mark.parametrize("net", ["100.01", "0.00"])
def test_refuses_more_than_was_paid_or_nothing(real_top_up, net):
    with pytest.raises(RefundRefused):
        refund(real_top_up, net)

    assert available(real_top_up) == Decimal("100.00")
    assert not Refund.objects.exists()


def test_unpaid_top_up_has_nothing_to_refund(wallet):
    row = provider.pending(wallet)

    with pytest.raises(RefundRefused):
        refund(row, "1.00")

    assert not Refund.objects.exists()


def test_refuses_what_is_held(real_top_up):
    place_hold(
        user_id=real_top_up.wallet.user_id,
        amount=usd("80.00"),
        reference="workspace:1",
        key="workspace:1",
        at=NOON,
    )

    with pytest.raises(InsufficientFunds):
        refund(real_top_up, "20.01")

    assert not Refund.objects.exists()


def test_refuses_while_frozen(real_top_up):
    owner = {"user_id": real_top_up.wallet.user_id, "currency": "USD"}
    freeze_wallet(**owner, at=NOON)

    with pytest.raises(WalletFrozen):
        refund(real_top_up, "20.00")

    unfreeze_wallet(**owner)
    assert not Refund.objects.exists()


def test_refused_by_the_provider_comes_back(real_top_up, monkeypatch):
    def refuse(self, order):
        raise GatewayError("The card is closed.")

    monkeypatch.setattr(SandboxGateway, "refund", refuse)

    failed = refund(real_top_up, "40.00")

    assert failed.status == Status.FAILED
    assert failed.failure == "The card is closed."
    assert available(real_top_up) == Decimal("100.00")
    assert balance_of("TAX") == Decimal("19.00")
    assert TopUp.objects.get().refundable_net == usd("100.00")


def test_lost_answer_is_asked_for_again_under_the_same_key(real_top_up, monkeypatch):
    real, keys = SandboxGateway.refund, []

    def lose(self, order):
        keys.append(order.key)
        real(self, order)
        raise OutcomeUnknown

    monkeypatch.setattr(SandboxGateway, "refund", lose)
    assert refund(real_top_up, "40.00").status == Status.STARTED
    assert available(real_top_up) == Decimal("60.00")

    monkeypatch.setattr(SandboxGateway, "refund", real)
    assert look_up_payments(at=NOON + timedelta(seconds=61)) == 1

    done = Refund.objects.get()
    assert done.status == Status.DONE
    assert keys == [f"refund:{done.uuid}"]
    assert available(real_top_up) == Decimal("60.00")


def test_asking_after_a_finished_refund_does_nothing(real_top_up):
    done = refund(real_top_up, "40.00")

    ask_provider(refund_id=done.pk, at=NOON)

    assert Refund.objects.get().status == Status.DONE


def pending_refund(top_up, net, monkeypatch):
    """
    Ask for a refund whose answer the event will bring.
    """

    def lose(self, order):
        raise OutcomeUnknown

    monkeypatch.setattr(SandboxGateway, "refund", lose)
    return refund(top_up, net)


def report(top_up, row, status, kind="refund.updated"):
    body = provider.refund(
        top_up,
        refund_id="re_1",
        minor=4760,
        reference=str(row.uuid),
        status=status,
    )
    return provider.tell(kind, body)


def test_event_finishes_a_refund(top_up, monkeypatch):
    row = pending_refund(top_up, "40.00", monkeypatch)

    report(top_up, row, "pending")
    assert Refund.objects.get().status == Status.PENDING
    report(top_up, row, "succeeded")
    report(top_up, row, "pending")

    done = Refund.objects.get()
    assert done.status == Status.DONE
    assert done.provider_ref == "re_1"
    assert available(top_up) == Decimal("60.00")


def test_bank_can_return_a_refund_that_was_done(top_up, monkeypatch):
    row = pending_refund(top_up, "40.00", monkeypatch)
    report(top_up, row, "succeeded")

    report(top_up, row, "failed", kind="refund.failed")
    report(top_up, row, "failed", kind="refund.updated")
    report(top_up, row, "succeeded")

    failed = Refund.objects.get()
    assert failed.status == Status.FAILED
    assert failed.failure == "expired_or_canceled_card"
    assert available(top_up) == Decimal("100.00")
    assert balance_of("TAX") == Decimal("19.00")


def test_refund_that_is_not_here_yet_is_parked(top_up):
    body = provider.refund(top_up, refund_id="re_1", minor=100, reference=str(uuid4()))

    assert provider.tell("refund.created", body).state == State.PARKED
    assert available(top_up) == Decimal("100.00")


@pytest.mark.parametrize("reference", [None, "not-a-uuid"])
def test_refund_made_at_the_providers_is_left_to_its_charge(top_up, reference):
    body = provider.refund(top_up, refund_id="re_1", minor=100, reference=reference)

    row = provider.tell("refund.created", body)

    assert row.state == (State.PARKED if reference else State.DONE)
    assert available(top_up) == Decimal("100.00")


def test_m19_running_total_is_no_difference(wallet):
    top_up = provider.paid(wallet, "60.00")

    for total in (1500, 2500, 2500):
        provider.tell("charge.refunded", provider.charge(top_up, refunded=total))

    assert available(top_up) == Decimal("35.00")
    assert [row.net for row in Refund.objects.order_by("pk")] == [usd(15), usd(10)]


def test_m20_two_partial_refunds(wallet):
    top_up = provider.paid(wallet, "40.00")

    seen = []
    for total in (500, 1000):
        provider.tell("charge.refunded", provider.charge(top_up, refunded=total))
        seen.append(available(top_up))

    assert seen == [Decimal("35.00"), Decimal("30.00")]
    assert TopUp.objects.get().state_label == "Partly refunded"


def test_m22_own_refund_and_its_events_debit_once(wallet, monkeypatch):
    top_up = provider.paid(wallet, "100.00")
    row = pending_refund(top_up, "12.00", monkeypatch)

    provider.tell("charge.refunded", provider.charge(top_up, refunded=1200))
    report(top_up, row, "succeeded")

    assert available(top_up) == Decimal("88.00")
    assert Refund.objects.count() == 1


def test_refund_reported_before_the_payment_waits_for_it(wallet):
    top_up = provider.pending(wallet)
    early = provider.tell("charge.refunded", provider.charge(top_up, refunded=1000))
    assert early.state == State.PARKED

    provider.tell("checkout.session.completed", provider.session(top_up))
    process_due(at=NOON + timedelta(seconds=1))

    early.refresh_from_db()
    assert early.state == State.DONE
    assert available(top_up) == Decimal("90.00")


def test_refund_at_the_providers_of_spent_money_waits_for_a_person(top_up):
    place_hold(
        user_id=top_up.wallet.user_id,
        amount=usd("80.00"),
        reference="workspace:1",
        key="workspace:1",
        at=NOON,
    )

    row = provider.tell("charge.refunded", provider.charge(top_up, refunded=11900))

    assert row.state == State.QUARANTINED
    assert available(top_up) == Decimal("20.00")


def test_refund_in_another_currency_waits_for_a_person(top_up):
    body = provider.charge(top_up, refunded=100, currency="eur")

    assert provider.tell("charge.refunded", body).state == State.QUARANTINED
    assert not Refund.objects.exists()


def test_parts_that_go_back_add_up_to_the_payment(db):
    wallet = make_wallet(currency="EUR")
    top_up = provider.paid(wallet, "10.00", country="FI")  # 25.5 %: 2.55
    for total in range(5, 1256, 5):
        provider.tell("charge.refunded", provider.charge(top_up, refunded=total))

    after = TopUp.objects.get()
    assert (after.refunded_net, after.refunded_vat) == (after.net, after.vat)
    assert all(row.net.amount >= 0 for row in Refund.objects.all())
    assert balance(wallet.available_id) == 0


def test_more_than_was_paid_cannot_go_back(top_up):
    with pytest.raises(NeedsPerson):
        split_back(top_up, Money("119.01", "USD"))


def test_m29_failure_after_payment_takes_nothing(wallet):
    top_up = provider.paid(wallet, "10.00")

    provider.tell("checkout.session.async_payment_failed", provider.session(top_up))

    assert available(top_up) == Decimal("10.00")
    assert Transfer.objects.count() == 1
