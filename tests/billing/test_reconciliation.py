"""
Our ledger against the provider's own books, as the sandbox keeps them.
"""

from datetime import timedelta
from decimal import Decimal
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import IntegrityError, transaction

from billing import tasks
from billing.checks import check_providers
from billing.demo import take_events
from billing.gateway import OutcomeUnknown
from billing.gateways import sandbox
from billing.gateways.sandbox import SandboxGateway
from billing.models import (
    ProviderMovement,
    Reconciliation,
    SandboxDelivery,
    SandboxMovement,
    TopUp,
    Transfer,
)
from billing.services.reconciliation import (
    AlreadyExplained,
    explain_movement,
    reconcile,
)
from billing.services.refunds import refund_payment
from tests.billing import provider
from tests.billing.conftest import NOON, balance_of, usd
from tests.billing.top_up_steps import page_text

NIGHT = NOON + timedelta(hours=14)
MONEY = "money at the provider is what was transferred for it"
FEES = "provider's fees and payouts are booked"


def hear_all():
    """
    Let the events of the sandbox arrive that have not yet.
    """
    new = SandboxDelivery.objects.filter(delivered_at=None)
    take_events(new.order_by("pk"), at=NOON)
    new.update(delivered_at=NOON)


@pytest.fixture
def payment(wallet):
    """
    100.00 and 19.00 VAT paid at the provider, who keeps 1.79 and 0.25 of it.
    """
    top_up = provider.pending(wallet, country="DE")
    reference = top_up.provider_ref.removeprefix("cs_test_")
    return sandbox.pay(reference=reference, at=NOON)


@pytest.fixture
def paid(payment):
    hear_all()
    return payment


def seen():
    return [(fault.rule, fault.id, fault.seen) for fault in check_providers()]


def at_provider(kind, *, payment, amount, fee=0):
    return SandboxMovement.objects.create(
        payment=payment,
        kind=kind,
        source=f"{kind}_1",
        amount=usd(amount),
        fee=usd(fee),
        happened_at=NOON,
    )


def test_books_the_fee_of_a_payment_once(paid):
    for _ in range(2):
        assert reconcile(at=NIGHT) == []

    assert seen() == []
    assert balance_of("WRITE_OFFS") == Decimal("-2.04")
    # The provider has 119.00 less its fee for us.
    assert balance_of("CLEARING", "sandbox") == Decimal("-116.96")
    movement, run = ProviderMovement.objects.get(), Reconciliation.objects.get()
    assert movement.booked_at == run.until_at == NIGHT
    assert str(movement) == f"charge {movement.ref}"
    assert str(run) == f"sandbox {NIGHT}"
    assert str(SandboxMovement.objects.get()) == f"charge {paid.charge_id}"


def test_refund_and_won_dispute_are_in_both_books(paid):
    top_up = TopUp.objects.get()
    refund_payment(top_up_id=top_up.pk, net=usd(40), key="1", at=NOON)
    SandboxMovement.objects.filter(kind="refund").update(happened_at=NOON)
    sandbox.dispute(reference=paid.reference, at=NOON)
    hear_all()
    sandbox.decide_dispute(reference=paid.reference, is_won=True, at=NOON)
    hear_all()

    reconcile(at=NIGHT)

    assert seen() == []
    moved = [
        (row.kind, row.category, row.amount)
        for row in ProviderMovement.objects.order_by("pk")
    ]
    assert moved == [
        ("charge", "PAYMENT", usd("119.00")),
        ("refund", "REFUND", usd("-47.60")),
        ("dispute", "DISPUTE", usd("-71.40")),
        ("dispute_reversal", "DISPUTE", usd("71.40")),
    ]
    # 2.04 for the payment, 15.00 for the dispute, which was booked with the dispute.
    assert balance_of("WRITE_OFFS") == Decimal("-17.04")
    assert Transfer.objects.filter(kind="PROVIDER_FEE").count() == 1


def test_fee_of_a_dispute_that_grows_later_is_booked(paid):
    sandbox.dispute(reference=paid.reference, at=NOON)
    hear_all()
    SandboxMovement.objects.filter(kind="dispute").update(fee=20)

    reconcile(at=NIGHT)

    assert seen() == []
    assert balance_of("WRITE_OFFS") == Decimal("-22.04")


def test_fee_that_the_provider_gives_back_is_booked(paid):
    at_provider("fee", payment=paid, amount="1.50")

    reconcile(at=NIGHT)

    assert seen() == []
    assert balance_of("WRITE_OFFS") == Decimal("-0.54")


def test_payout_to_the_bank_moves_to_the_bank(paid):
    at_provider("payout", payment=paid, amount="-100.00")

    reconcile(at=NIGHT)

    assert seen() == []
    assert balance_of("CLEARING", "sandbox") == Decimal("-16.96")
    assert balance_of("CLEARING", "bank") == Decimal("-100.00")


def test_payment_that_was_never_heard_of_is_told(payment, broken_books):
    reconcile(at=NIGHT)

    assert seen() == [
        (MONEY, payment.payment_id, "sandbox, payment: 119.00 is not 0 USD")
    ]
    hear_all()
    assert seen() == []


def test_payment_that_the_provider_does_not_have_is_told(paid, broken_books):
    SandboxMovement.objects.all().delete()

    reconcile(at=NIGHT)

    assert seen() == [(MONEY, paid.payment_id, "sandbox, payment: 0 is not 119.00 USD")]


def test_refund_and_dispute_are_not_taken_for_each_other(paid, broken_books):
    top_up = TopUp.objects.get()
    refund_payment(top_up_id=top_up.pk, net=usd(40), key="1", at=NOON)
    SandboxMovement.objects.filter(kind="refund").update(
        happened_at=NOON, kind="dispute", source="dp_1"
    )

    reconcile(at=NIGHT)

    assert seen() == [
        (MONEY, paid.payment_id, "sandbox, dispute: -47.60 is not 0 USD"),
        (MONEY, paid.payment_id, "sandbox, refund: 0 is not -47.60 USD"),
    ]
    # Its fee waits for the dispute to be reported.
    assert ProviderMovement.objects.filter(booked_at=None).count() == 1


def test_what_the_provider_calls_something_else_is_told(paid, broken_books):
    row = at_provider("topup", payment=paid, amount="7.00")

    reconcile(at=NIGHT)

    item = f"movement:txn_{row.pk}"
    assert seen() == [(MONEY, item, "sandbox, other: 7.00 is not 0 USD")]


def test_fee_that_was_not_booked_is_told(paid, broken_books):
    SandboxMovement.objects.update(fee=3)
    reconcile(at=NIGHT)

    ProviderMovement.objects.update(fee=4)

    item = f"movement:{ProviderMovement.objects.get().ref}"
    assert seen() == [(FEES, item, "sandbox: 4.00 is not 3.00 USD")]


def test_what_moved_in_the_last_hour_may_be_on_its_way(payment):
    reconcile(at=NOON + timedelta(minutes=59))
    assert seen() == []

    hear_all()
    reconcile(at=NIGHT)
    assert seen() == []


def test_provider_that_does_not_answer_is_asked_for_everything_again(
    paid, monkeypatch, caplog
):
    def lose(self, **_):
        raise OutcomeUnknown

    with monkeypatch.context() as broken:
        broken.setattr(SandboxGateway, "movements", lose)
        assert reconcile(at=NIGHT) == ["sandbox"]
    assert "could not be fetched" in caplog.text
    assert not Reconciliation.objects.exists()

    reconcile(at=NIGHT + timedelta(days=9))

    assert ProviderMovement.objects.count() == 1


def test_task_and_command_compare(payment, broken_books, monkeypatch):
    def lose(self, **_):
        raise OutcomeUnknown

    # NOON is long ago by the clock of the tasks.
    tasks.reconcile_payments()
    out = StringIO()

    with pytest.raises(SystemExit):
        call_command("reconcile_payments", stdout=out)
    hear_all()
    call_command("reconcile_payments", stdout=out)
    monkeypatch.setattr(SandboxGateway, "movements", lose)
    with pytest.raises(SystemExit):
        call_command("reconcile_payments", stdout=out)

    assert out.getvalue().splitlines() == [
        f"{MONEY}: {payment.payment_id}: sandbox, payment: 119.00 is not 0 USD",
        "The providers' books say the same.",
        "sandbox did not answer.",
    ]


@pytest.fixture
def other(paid):
    """
    7.00 that somebody moved by hand at the provider.
    """
    at_provider("topup", payment=paid, amount="7.00")
    reconcile(at=NIGHT)
    return ProviderMovement.objects.get(category="OTHER")


def explain(movement, staff, **changes):
    told = {"cause": "BANK", "reason": "Moved by hand", "at": NIGHT}
    explain_movement(movement_id=movement.pk, actor_id=staff.pk, **told | changes)


@pytest.mark.parametrize(
    ("amount", "cause", "at_the_provider", "at_the_bank", "lost"),
    [
        ("7.00", "BANK", "-123.96", "7.00", "-2.04"),
        ("-7.00", "BANK", "-109.96", "-7.00", "-2.04"),
        ("7.00", "HOUSE", "-123.96", "0", "4.96"),
        ("-7.00", "HOUSE", "-109.96", "0", "-9.04"),
    ],
)
def test_staff_say_what_something_else_was(
    other, staff, amount, cause, at_the_provider, at_the_bank, lost
):
    ProviderMovement.objects.filter(pk=other.pk).update(amount=amount)
    explain(other, staff, cause=cause)

    assert seen() == []
    assert balance_of("CLEARING", "sandbox") == Decimal(at_the_provider)
    assert balance_of("CLEARING", "bank") == Decimal(at_the_bank)
    assert balance_of("WRITE_OFFS") == Decimal(lost)


def test_movement_is_explained_once_and_only_if_it_is_something_else(other, staff):
    explain(other, staff)
    charge = ProviderMovement.objects.get(category="PAYMENT")

    for movement in (other, charge):
        with pytest.raises(AlreadyExplained):
            explain(movement, staff, cause="HOUSE")

    assert Transfer.objects.filter(kind="CORRECTION").count() == 1
    assert balance_of("WRITE_OFFS") == Decimal("-2.04")
    with pytest.raises(IntegrityError, match="explained_whole"), transaction.atomic():
        ProviderMovement.objects.filter(pk=charge.pk).update(cause="BANK")


def test_staff_explain_on_a_page_beside_the_books(
    other, staff_client, staff, stranger_client, django_assert_max_num_queries
):
    movements = "/staff/books/movements/"
    assert movements in staff_client.get("/staff/books/").content.decode()
    url = f"{movements}{other.pk}/"
    answer = {"cause": "BANK", "reason": "Moved by hand"}
    assert stranger_client.post(url, answer).status_code == 404
    assert staff_client.post(url, answer | {"reason": " "}).status_code == 422
    assert f'href="{url}"' in staff_client.get(movements).content.decode()
    assert "$7.00" in staff_client.get(url).content.decode()
    assert Transfer.objects.filter(kind="CORRECTION").count() == 0

    assert staff_client.post(url, answer).headers["Location"] == movements

    assert staff_client.post(url, answer).status_code == 422
    assert Transfer.objects.filter(kind="CORRECTION").count() == 1
    with django_assert_max_num_queries(10):
        page = page_text(staff_client.get(movements))
    assert f"bank account: Moved by hand {staff.email}" in page
    assert url not in page
