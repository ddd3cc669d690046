"""
The demo's people get their money the way everybody's comes in, and only once.
"""

from decimal import Decimal

from billing import tasks
from billing.demo import take_events, top_up_in_sandbox
from billing.models import Invoice, ProviderEvent, SandboxDelivery, TopUp, Transfer
from tests.billing.conftest import NOON, balance, usd


def test_top_up_is_paid_credited_and_invoiced_once(wallet):
    """
    The United States have no VAT: what is paid is what is credited.
    """
    person = {"user_id": wallet.user_id, "email": "renter@example.com"}
    top_up_in_sandbox(net=usd(250), at=NOON, **person)
    events = ProviderEvent.objects.count()

    take_events(SandboxDelivery.objects.order_by("pk"), at=NOON)
    tasks.run_sandbox()
    tasks.issue_invoices()

    assert balance(wallet.available_id) == Decimal("250.00")
    assert TopUp.objects.get().status == "PAID"
    assert Transfer.objects.get().amount == usd(250)
    assert Invoice.objects.get().total == usd(250)
    assert ProviderEvent.objects.count() == events
    assert not ProviderEvent.objects.exclude(state="DONE").exists()
