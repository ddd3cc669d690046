"""
Which place a request has among those that could take the same nodes.
"""

from decimal import Decimal

import pytest

from tests.workspaces.conftest import NOON, pay_in
from workspaces.queueing import QueuePlace, place_of
from workspaces.services import cancel_workspace, queue_funded


@pytest.mark.django_db
@pytest.mark.usefixtures("rates")
def test_places_by_limit_and_then_by_funding(make_funded, rich_renter):
    """
    A euro is 1.25 dollars: 0.30 EUR are 0.375 USD, between 0.38 and 0.36.
    """
    pay_in(rich_renter, "100", currency="EUR")
    low = make_funded(wanted_limit=Decimal("0.36"))
    euros = make_funded(wanted_limit=Decimal("0.30"), currency="EUR")
    high = make_funded(wanted_limit=Decimal("0.38"))

    places = [place_of(request) for request in (high, euros, low)]

    assert places == [QueuePlace(1, 3), QueuePlace(2, 3), QueuePlace(3, 3)]
    queue_funded(at=NOON)
    assert place_of(low) == QueuePlace(3, 3)


def test_counts_only_rivals_for_the_same_nodes(make_funded):
    own = make_funded(regions=["eu-central-frankfurt"])
    make_funded(regions=["eu-west-paris"], wanted_limit=Decimal("0.90"))
    make_funded(gpus=8, wanted_limit=Decimal("0.10"), hours=8)

    assert place_of(own) == QueuePlace(1, 1)


def test_what_waits_no_longer_has_none(funded):
    cancel_workspace(workspace_id=funded.pk, actor=funded.user, at=NOON)

    assert place_of(funded) is None


def test_the_page_shows_it(make_funded, renter_client, django_assert_max_num_queries):
    make_funded(wanted_limit=Decimal("0.40"))
    funded = make_funded()

    with django_assert_max_num_queries(10):
        page = renter_client.get(f"/workspaces/{funded.pk}/").content.decode()

    assert "<b>Place 2 of 2</b>" in page
    assert "/market/rtx-4090/" in page
