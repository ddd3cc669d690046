"""
What is told of all that waits: the dry run of the opening, and the market's overview.
"""

from datetime import timedelta
from decimal import Decimal

import pytest
from djmoney.money import Money

from marketplace import depth, services
from marketplace.order_book import order_book_of
from tests.workspaces.conftest import NOON, free_nodes
from workspaces.services import WantedResume, fund_workspace, quote_resume

pytestmark = pytest.mark.django_db

LATER = NOON + timedelta(hours=11)


@pytest.fixture
def resuming(stopped):
    """
    Stopped after ten of 40 hours, it would go on for 30: 9.90 at 0.33.
    """
    quote = quote_resume(
        user=stopped.user,
        workspace_id=stopped.pk,
        wanted=WantedResume(
            gpu=stopped.gpu,
            gpus=1,
            regions=stopped.regions,
            hours=30,
            kept_days=7,
            wanted_limit=None,
        ),
        at=LATER,
    )
    return fund_workspace(user=stopped.user, quote_id=quote.pk, at=LATER)


def test_the_dry_run_tells_and_changes_nothing(make_funded, offer):
    make_funded()
    make_funded(wanted_limit=Decimal("0.32"))

    [run] = services.preview_opening(at=NOON)

    # 18.33 at the best ask; at 0.32 the GPU hours are 12.80, so 17.93.
    assert (run.gpu_label, run.waiting, run.matched) == ("RTX 4090", 2, 1)
    assert (run.gpu_hours, run.compute) == (40, [Money("13.20", "USD")])
    assert run.held == [Money("36.26", "USD")]
    assert services.match_market(at=NOON) == []
    assert free_nodes(offer) == 12


def test_the_dry_run_counts_what_waits_to_go_on(resuming):
    [run] = services.preview_opening(at=LATER)

    assert (run.waiting, run.matched, run.gpu_hours) == (1, 1, 30)
    assert run.compute == [Money("9.90", "USD")]
    assert run.held == [resuming.quote.hold_amount]


def test_the_overview_counts_what_waits_as_the_order_book_does(resuming, make_funded):
    make_funded()

    [waiting] = [row.waiting for row in depth.overview(at=LATER) if row.waiting]

    book = order_book_of(gpu_id=resuming.gpu_id, at=LATER)
    assert waiting == book.waiting_in_all == 2
