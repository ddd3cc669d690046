"""
The page where a second member of staff approves prices, or refuses them.
"""

import pytest
from django.utils.html import strip_tags
from djmoney.money import Money

from catalog.models import PriceProposal
from catalog.price_plans import Line
from catalog.services import set_prices
from marketplace.models import User
from tests.workspaces.conftest import HOUR, NOON

PAGE = "/staff/prices/approvals/"


def words(response):
    return " ".join(strip_tags(response.content.decode()).split())


@pytest.fixture
def author(db):
    return User.objects.create_user("author@example.com", is_staff=True)


@pytest.fixture
def propose(offer):
    def propose(actor):
        line = Line(
            number=1,
            offer_id=offer.pk,
            price=Money("3.30", "USD"),
            reason="A new contract",
            is_meant=True,
        )
        set_prices(lines=[line], actor=actor, at=NOON + HOUR)
        return PriceProposal.objects.get()

    return propose


def test_shows_what_waits_by_whom_and_why_and_lets_it_begin(
    staff_client, staff, author, offer, propose, django_assert_max_num_queries
):
    proposal = propose(author)

    with django_assert_max_num_queries(10):
        page = staff_client.get(PAGE)
    saved = staff_client.post(
        PAGE,
        {"proposal": proposal.pk, "reason": "I read it", "verdict": "approve"},
        follow=True,
    )

    # 3.30 is ten times 0.33, so 900 % more.
    assert (
        "Choose RTX 4090 of EverXCloud RTX 4090 EverXCloud, EU Central · Frankfurt $0.33 $3.30 $0.33 +900%"
        " at once author@example.com"
    ) in words(page)
    assert "A new contract" in words(page)
    assert "1 price waits for" not in words(staff_client.get("/staff/"))
    assert "1 price is approved." in words(saved)
    assert f"Approved: {staff.email}" in words(saved)
    assert offer.prices.get(valid_to=None).hourly_price == Money("3.30", "USD")
    changes = words(staff_client.get("/staff/prices/changes/"))
    assert f"Approved by {staff.email}" in changes


def test_ones_own_can_only_be_refused(staff_client, staff, offer, propose):
    data = {"proposal": propose(staff).pk, "reason": "Sure"}

    own = staff_client.post(PAGE, data | {"verdict": "approve"})

    assert own.status_code == 422
    assert "You proposed this price yourself." in words(own)
    assert 'value="Sure"' in own.content.decode()
    assert "checked" in own.content.decode()
    assert "1 price waits for" in words(staff_client.get("/staff/"))
    assert offer.prices.count() == 1
    assert staff_client.post(PAGE, data | {"verdict": "refuse"}).status_code == 302
    assert not PriceProposal.objects.waiting().exists()
    assert offer.prices.count() == 1


@pytest.mark.parametrize(
    "data",
    [
        {"reason": "Sure", "verdict": "approve"},
        {"proposal": "1 OR 1=1", "reason": "Sure", "verdict": "approve"},
        {"proposal": "9" * 18, "reason": "Sure", "verdict": "approve"},
    ],
)
def test_nothing_is_decided_by_what_is_not_chosen(staff_client, author, propose, data):
    propose(author)

    assert staff_client.post(PAGE, data).status_code == 422
    assert PriceProposal.objects.waiting().exists()


def test_the_admin_looks_all_of_them_up_and_changes_none(staff_client, author, propose):
    proposal = propose(author)
    table = "/admin/catalog/priceproposal/"

    assert "A new contract" in words(staff_client.get(table))
    assert staff_client.get(f"{table}add/").status_code == 403
    answer = staff_client.post(f"{table}{proposal.pk}/change/", {"reason": "Mine"})
    assert answer.status_code == 403
