"""
Each rule of the payments, broken on purpose, is reported by check_books.
"""

import pytest

from billing.models import Dispute, InvoiceSeries, Refund, TopUp
from billing.services import check_books
from billing.services.invoices import issue_due
from tests.billing import provider
from tests.billing.conftest import NOON, make_wallet

RULES = {
    "status": "top-up is what was transferred for it",
    "net": "top-up is what was transferred for it",
    "refunded": "top-up is what was transferred for it",
    "refund": "refunds and disputes are what went back of their top-up",
    "dispute": "refunds and disputes are what went back of their top-up",
    "series": "invoice numbers have no gap",
    "invoice": "invoice is what was paid",
}


def break_rule(name):
    breaks = {
        "status": lambda: TopUp.objects.update(status="FAILED", paid_at=None),
        "net": lambda: TopUp.objects.update(net=101, total=121),
        "refunded": lambda: TopUp.objects.update(refunded_net=1),
        "refund": lambda: Refund.objects.update(status="FAILED"),
        "dispute": lambda: Dispute.objects.update(status="WON"),
        "series": lambda: InvoiceSeries.objects.filter(prefix="INV").update(
            last_number=2
        ),
        "invoice": lambda: TopUp.objects.update(vat=21, total=121),
    }
    breaks[name]()


@pytest.fixture
def top_up(db):
    """
    100.00 and 20.00 VAT paid; 12.00 refunded, 24.00 lost to a dispute; all invoiced.
    """
    top_up = provider.paid(make_wallet(currency="EUR"), country="FR")
    provider.tell("charge.refunded", provider.charge(top_up, refunded=1200))
    provider.tell(
        "charge.dispute.closed",
        provider.dispute(top_up, minor=2400, fee=0, status="lost"),
    )
    assert issue_due(at=NOON) == 3
    return top_up


def test_all_rules_hold(top_up):
    assert check_books() == []


@pytest.mark.parametrize("name", RULES)
def test_broken_rule_is_reported(top_up, broken_books, name):
    break_rule(name)

    assert RULES[name] in {fault.rule for fault in check_books()}
