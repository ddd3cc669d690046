"""
The page of a quote: what it shows, what funds it, and what happens when it is over.
"""

import pytest
from django.urls import reverse

from billing.models import Hold
from catalog.models import Offer
from tests.workspaces.conftest import MINUTE, NOON, pay_in
from tests.workspaces.test_pages import at_noon, text_of  # noqa: F401
from workspaces import services
from workspaces.models import Quote, Workspace


def test_the_quote_shows_every_line_and_the_wallet(renter_client, quote):
    page = text_of(renter_client.get(quote.get_absolute_url()))

    for figure in ("$13.20", "$0.99", "$4.14", "$18.33", "$100.00", "$81.67"):
        assert figure in page
    assert "frozen for 15" in page
    assert "Hold $18.33 and fund" in page
    assert "EverXCloud" in page


def test_the_quote_says_how_much_is_missing(renter_client, renter, wanted):
    pay_in(renter, "10")
    quote = services.quote_workspace(user=renter, wanted=wanted, at=NOON)

    page = text_of(renter_client.get(quote.get_absolute_url()))

    assert "$8.33 short" in page
    assert reverse("billing:top_up") in page
    assert "and fund" not in page


def test_funding_leads_to_the_workspace(renter_client, quote, pages_of_quote):
    first = renter_client.post(pages_of_quote["fund"])
    second = renter_client.post(pages_of_quote["fund"])

    workspace = Workspace.objects.get()
    assert first.status_code == second.status_code == 302
    assert first.url == second.url == workspace.get_absolute_url()
    assert Hold.objects.count() == 1
    assert "Open the workspace" in text_of(renter_client.get(pages_of_quote["quote"]))


@pytest.fixture
def pages_of_quote(quote):
    return {
        name: reverse(f"workspaces:{name}", args=[quote.pk])
        for name in ("quote", "fund", "again")
    }


def test_an_expired_quote_offers_a_new_one(
    renter_client, quote, pages_of_quote, time_machine
):
    time_machine.move_to(NOON + 15 * MINUTE, tick=False)

    refused = renter_client.post(pages_of_quote["fund"])

    assert refused.status_code == 422
    assert "has expired" in text_of(refused)
    assert "Quote again" in text_of(refused)
    assert not Workspace.objects.exists()

    renewed = renter_client.post(pages_of_quote["again"])
    newest = Quote.objects.latest("created_at")
    assert renewed.url == newest.get_absolute_url()
    assert newest.terms() == quote.terms()


def test_a_wallet_that_is_short_is_told_so_on_funding(renter_client, make_quote):
    quote = make_quote(hours=300)

    response = renter_client.post(reverse("workspaces:fund", args=[quote.pk]))

    assert response.status_code == 422
    assert "$10.54" in text_of(response)
    assert not Workspace.objects.exists()


def test_quoting_again_says_when_nothing_is_offered_any_more(
    renter_client, quote, pages_of_quote, offer
):
    Offer.objects.filter(pk=offer.pk).update(free_nodes=0)

    response = renter_client.post(pages_of_quote["again"])

    assert response.status_code == 422
    assert "Write the most you would pay" in text_of(response)
    assert Quote.objects.count() == 1
