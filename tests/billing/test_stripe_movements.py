"""
Stripe's balance transactions, read page by page.
"""

from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qsl, urlsplit

import pytest
from djmoney.money import Money

from billing.gateway import GatewayError, Movement
from billing.gateways.stripe import StripeGateway
from tests.billing.conftest import NOON
from tests.billing.stub_server import stub_server


@pytest.fixture
def stub():
    with stub_server() as stub:
        yield stub


@pytest.fixture
def gateway(stub, settings):
    settings.STRIPE_SECRET_KEY = "sk_test_local"
    return StripeGateway(api_url=stub.url)


def balance_transaction(ref, **changes):
    """
    A line of Stripe's books in its published shape, its source written out.
    """
    return {
        "id": ref,
        "object": "balance_transaction",
        "amount": 12000,
        "available_on": 1780920000,
        "created": 1780315200,
        "currency": "eur",
        "description": None,
        "exchange_rate": None,
        "fee": 205,
        "fee_details": [{"amount": 205, "currency": "eur", "type": "stripe_fee"}],
        "net": 11795,
        "reporting_category": "charge",
        "source": {"id": "ch_1", "object": "charge", "payment_intent": "pi_1"},
        "status": "available",
        "type": "charge",
    } | changes


def page_of(*rows, has_more=False):
    url = "/v1/balance_transactions"
    return 200, {"object": "list", "data": [*rows], "has_more": has_more, "url": url}


def test_reads_what_moved(gateway, stub):
    taken = balance_transaction(
        "txn_2",
        amount=-12000,
        fee=1500,
        reporting_category="dispute",
        type="adjustment",
        source={"id": "dp_1", "object": "dispute", "payment_intent": "pi_1"},
    )
    kept = balance_transaction(
        "txn_3",
        amount=-200,
        fee=0,
        reporting_category="fee",
        type="stripe_fee",
        source=None,
    )
    other = balance_transaction("txn_4", currency="jpy", reporting_category="topup")
    stub.answers = [page_of(balance_transaction("txn_1"), taken, kept, other)]

    rows = list(gateway.movements(since=NOON, until=NOON + timedelta(days=1)))

    assert rows[0] == Movement(
        ref="txn_1",
        kind="charge",
        category="PAYMENT",
        source="ch_1",
        payment_id="pi_1",
        amount=Money("120.00", "EUR"),
        fee=Money("2.05", "EUR"),
        happened_at=datetime(2026, 6, 1, 12, tzinfo=UTC),
    )
    assert [(row.category, row.source, row.payment_id) for row in rows[1:3]] == [
        ("DISPUTE", "dp_1", "pi_1"),
        ("FEE", "", ""),
    ]
    assert (rows[3].category, rows[3].amount) == ("OTHER", Money(12000, "JPY"))


def test_lists_what_moved_page_by_page(gateway, stub):
    stub.answers = [
        page_of(
            balance_transaction("txn_1"), balance_transaction("txn_2"), has_more=True
        ),
        page_of(balance_transaction("txn_3")),
    ]

    rows = list(gateway.movements(since=NOON, until=NOON + timedelta(days=1)))

    assert [row.ref for row in rows] == ["txn_1", "txn_2", "txn_3"]
    first, second = (dict(parse_qsl(urlsplit(row[0]).query)) for row in stub.asked)
    assert first == {
        "created[gte]": str(int(NOON.timestamp())),
        "created[lt]": str(int(NOON.timestamp()) + 86400),
        "expand[0]": "data.source",
        "limit": "100",
    }
    assert second == first | {"starting_after": "txn_2"}


@pytest.mark.parametrize("answer", [(None, None), (401, {}), (500, {})])
def test_list_that_breaks_off_is_said(gateway, stub, answer):
    stub.answers = [page_of(balance_transaction("txn_1"), has_more=True), answer]

    with pytest.raises(GatewayError):
        list(gateway.movements(since=NOON, until=NOON + timedelta(days=1)))
