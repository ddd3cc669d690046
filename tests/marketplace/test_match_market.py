"""
Matching on the database. One node of EverXCloud's RTX 4090 costs 0.33 an hour.
"""

import threading
from datetime import timedelta
from decimal import Decimal
from functools import partial

import pytest
from django.db import IntegrityError, connection, connections, transaction
from django.test.utils import CaptureQueriesContext
from djmoney.money import Money

from billing.services import load_shipped_rates
from catalog import services as catalog_services
from catalog.models import Offer
from marketplace import services
from marketplace.models import Launch, Match
from marketplace.services import matching
from tests.billing.processes import in_threads
from tests.workspaces.conftest import (
    NOON,
    free_nodes,
    hold_on,
    matched_at,
    pay_in,
    wallet_of,
)
from workspaces.models import State, Workspace
from workspaces.services import cancel_workspace, fund_workspace

pytestmark = pytest.mark.django_db

HOUR = timedelta(hours=1)


def state_of(workspace):
    workspace.refresh_from_db()
    return workspace.state


def leave_nodes(offer, nodes):
    Offer.objects.filter(pk=offer.pk).update(free_nodes=nodes)


def test_matches_nothing_before_the_opening(funded, offer):
    assert services.match_market(at=NOON) == []

    assert state_of(funded) == State.FUNDED
    assert free_nodes(offer) == 12
    assert not Match.objects.exists()


def test_the_opening_matches_what_was_funded_before(funded, offer, open_market):
    [match] = open_market()

    assert (match.workspace, match.offer) == (funded, offer)
    assert match.hourly_price == Money("0.33", "USD")
    assert state_of(funded) == State.MATCHED
    assert funded.hourly_price == Money("0.33", "USD")
    assert free_nodes(offer) == 11


def test_pays_the_ask_and_returns_what_the_limit_held_too_much(
    make_funded, offer, open_market
):
    # 40 h at 0.40 hold 16.00 + 0.99 + 4.14; at the ask of 0.33 they are 13.20.
    funded = make_funded(wanted_limit=Decimal("0.40"))
    assert hold_on(funded).amount == Money("21.13", "USD")

    open_market()

    assert hold_on(funded).remaining == Money("18.33", "USD")
    assert wallet_of(funded.user).held == Money("18.33", "USD")
    assert wallet_of(funded.user).available == Money("81.67", "USD")


def test_is_safe_to_run_again(funded, offer, open_market):
    open_market()

    assert open_market() == []
    assert services.match_market(at=NOON + HOUR) == []
    assert Match.objects.count() == 1
    assert free_nodes(offer) == 11


def test_r48_numbers_matches_in_the_order_of_the_rule(make_funded, offer, open_market):
    low = make_funded(wanted_limit=Decimal("0.34"))
    high = make_funded(wanted_limit=Decimal("0.40"))

    first, second = open_market()

    assert (first.workspace, second.workspace) == (high, low)
    assert first.sequence < second.sequence


def test_gives_the_last_node_to_the_highest_limit(make_funded, offer, open_market):
    low = make_funded(wanted_limit=Decimal("0.34"))
    high = make_funded(wanted_limit=Decimal("0.40"))
    leave_nodes(offer, 1)

    open_market()

    assert state_of(high) == State.MATCHED
    assert state_of(low) == State.QUEUED
    assert free_nodes(offer) == 0


def test_leaves_a_limit_below_every_ask_in_the_queue(make_funded, offer, open_market):
    funded = make_funded(wanted_limit=Decimal("0.32"))

    assert open_market() == []

    assert state_of(funded) == State.QUEUED
    assert hold_on(funded).released.amount == 0


def test_matches_a_waiting_limit_when_a_price_comes_down(
    make_funded, offer, open_market, staff
):
    funded = make_funded(wanted_limit=Decimal("0.32"))
    open_market()
    later = NOON + HOUR
    catalog_services.set_price(
        offer_id=offer.pk,
        hourly_price=Money("0.31", "USD"),
        valid_from=later,
        actor=staff,
        at=later,
    )

    assert services.match_market(at=NOON) == []
    [match] = services.match_market(at=later)

    assert match.workspace == funded
    assert match.hourly_price == Money("0.31", "USD")


def test_r6_a_request_keeps_its_limit_when_the_price_goes_up(
    funded, offer, open_market, staff
):
    later = NOON + HOUR
    catalog_services.set_price(
        offer_id=offer.pk,
        hourly_price=Money("0.40", "USD"),
        valid_from=later,
        actor=staff,
        at=later,
    )

    assert open_market(later) == []
    assert state_of(funded) == State.QUEUED


def test_r20_a_node_that_is_gone_costs_nothing_and_the_next_one_is_taken(
    funded, offer, open_market, monkeypatch
):
    """
    It was shown as free, but somebody took it while the book was matched.
    """
    take_node = catalog_services.take_node

    def taken_before(**node):
        leave_nodes(offer, 0)
        take_node(**node)

    monkeypatch.setattr(matching.catalog, "take_node", taken_before)

    assert open_market() == []

    assert state_of(funded) == State.QUEUED
    assert hold_on(funded).released.amount == 0
    monkeypatch.undo()
    leave_nodes(offer, 1)
    [match] = services.match_market(at=NOON + HOUR)
    assert match.workspace == funded


def test_queues_and_matches_what_is_funded_after_the_opening(
    offer, open_market, make_funded
):
    open_market()
    funded = make_funded()

    [match] = services.match_market(at=NOON)

    assert match.workspace == funded


def test_matches_the_book_of_one_gpu_alone(funded, offer, open_market):
    services.open_doors(actor=None, at=NOON)

    assert services.match_market(at=NOON, gpu_id=funded.gpu_id + 1) == []
    assert state_of(funded) == State.QUEUED
    assert len(services.match_market(at=NOON, gpu_id=funded.gpu_id)) == 1


def test_matches_nothing_while_the_market_is_paused(
    offer, open_market, staff, make_funded
):
    open_market()
    services.pause_market(actor=staff, reason="Paris is dark", at=NOON)
    funded = make_funded()

    assert services.match_market(at=NOON) == []
    assert state_of(funded) == State.FUNDED

    [match] = open_market(NOON + HOUR)
    assert match.workspace == funded


def test_a_pause_ends_a_matching_that_has_begun(make_funded, offer, staff, monkeypatch):
    monkeypatch.setattr(matching, "MATCHES_PER_RUN", 1)
    first, second = make_funded(wanted_limit=Decimal("0.40")), make_funded()
    make_match = matching._make_match

    def pause_after(*facts):
        match = make_match(*facts)
        services.pause_market(actor=staff, reason="Paris is dark", at=NOON)
        return match

    monkeypatch.setattr(matching, "_make_match", pause_after)

    [match] = services.open_market(actor=staff, at=NOON)

    assert match.workspace == first
    assert state_of(second) == State.QUEUED
    assert Launch.objects.get().matched_at is None


def test_leaves_a_request_whose_start_deadline_is_over(make_funded, offer, open_market):
    funded = make_funded(start_deadline=NOON + HOUR)

    assert open_market(NOON + HOUR) == []
    assert state_of(funded) == State.QUEUED


def test_does_not_match_what_was_cancelled(funded, offer, open_market):
    cancel_workspace(workspace_id=funded.pk, actor=funded.user, at=NOON)

    assert open_market() == []
    assert free_nodes(offer) == 12


def test_a_euro_wallet_pays_the_dollar_ask_at_the_frozen_rate(
    make_funded, offer, open_market, rich_renter
):
    load_shipped_rates()
    pay_in(rich_renter, "100", currency="EUR")
    funded = make_funded(currency="EUR")
    expected = funded.quote.in_wallet_currency(Money("0.33", "USD"))

    [match] = open_market()

    assert match.hourly_price == Money("0.33", "USD")
    assert state_of(funded) == State.MATCHED
    assert funded.hourly_price == expected
    assert str(expected.currency) == "EUR"


def test_ranks_limits_of_two_currencies_by_the_frozen_rate(
    make_funded, offer, open_market, rich_renter
):
    """
    A euro is 1.0389 dollars in the shipped rates: 0.35 EUR are 0.3636 USD.
    """
    load_shipped_rates()
    pay_in(rich_renter, "100", currency="EUR")
    dollars = make_funded(wanted_limit=Decimal("0.36"))
    euros = make_funded(wanted_limit=Decimal("0.35"), currency="EUR")
    leave_nodes(offer, 1)

    open_market()

    assert state_of(euros) == State.MATCHED
    assert state_of(dollars) == State.QUEUED


def test_the_log_of_matches_is_never_changed(funded, offer, open_market):
    [match] = open_market()

    with pytest.raises(IntegrityError, match="only added"), transaction.atomic():
        Match.objects.filter(pk=match.pk).update(hourly_price=Decimal(1))
    with pytest.raises(IntegrityError, match="only added"), transaction.atomic():
        match.delete()


def test_a_match_that_cannot_be_made_does_not_stop_the_others(
    make_funded, offer, open_market, monkeypatch
):
    first, second = make_funded(wanted_limit=Decimal("0.40")), make_funded()
    take_node = catalog_services.take_node
    fails = iter([True, False])

    def taken_once(**node):
        if next(fails):
            raise catalog_services.NoFreeNode
        take_node(**node)

    monkeypatch.setattr(matching.catalog, "take_node", taken_once)

    [match] = open_market()

    assert match.workspace == second
    assert state_of(first) == State.QUEUED
    assert hold_on(first).released.amount == 0
    assert services.replay_matches(at=NOON).differences == []


def test_cuts_a_long_book_into_transactions_without_changing_it(
    make_funded, offer, open_market, monkeypatch
):
    monkeypatch.setattr(matching, "MATCHES_PER_RUN", 1)
    limits = [Decimal("0.34"), Decimal("0.36"), Decimal("0.35")]
    low, high, middle = (make_funded(wanted_limit=limit) for limit in limits)

    matches = open_market()

    assert [match.workspace for match in matches] == [high, middle, low]


@pytest.mark.django_db(transaction=True)
def test_two_processes_give_one_match_per_node(make_funded, offer):
    workspaces = [make_funded() for _ in range(5)]
    leave_nodes(offer, 3)
    services.open_doors(actor=None, at=NOON)
    start = threading.Barrier(2)
    found = []

    def match():
        try:
            start.wait()
            found.extend(services.match_market(at=NOON))
        finally:
            connections.close_all()

    matchers = [threading.Thread(target=match) for _ in range(2)]
    for matcher in matchers:
        matcher.start()
    for matcher in matchers:
        matcher.join()

    states = [state_of(workspace) for workspace in workspaces]
    assert sorted(states) == [State.MATCHED] * 3 + [State.QUEUED] * 2
    assert len(found) == Match.objects.count() == 3
    assert free_nodes(offer) == 0


@pytest.mark.django_db(transaction=True)
def test_fifty_parallel_requests_for_one_node_give_one_match(
    make_quote, make_person, offer
):
    quotes = []
    for number in range(5):
        renter = make_person(f"renter{number}@example.com")
        pay_in(renter, "200")
        quotes += [make_quote(user=renter) for _ in range(10)]
    leave_nodes(offer, 1)
    services.open_doors(actor=None, at=NOON)

    def fund_and_match(quote):
        fund_workspace(user=quote.user, quote_id=quote.pk, at=NOON)
        return services.match_market(at=NOON, gpu_id=offer.gpu_id)

    answers = in_threads(*[partial(fund_and_match, quote) for quote in quotes])

    assert [answer for answer in answers if not isinstance(answer, list)] == []
    [match] = [match for answer in answers for match in answer]
    assert Match.objects.get() == match
    assert match.offer == offer
    assert free_nodes(offer) == 0
    assert Workspace.objects.filter(state=State.QUEUED).count() == 49
    assert services.replay_matches(at=NOON).differences == []


def test_locks_the_gpu_before_it_reads_the_book(funded, offer):
    services.open_doors(actor=None, at=NOON)
    with CaptureQueriesContext(connection) as queries:
        services.match_market(at=NOON)

    said = [query["sql"] for query in queries]
    lock = next(i for i, sql in enumerate(said) if "pg_advisory_xact_lock" in sql)
    book = next(i for i, sql in enumerate(said) if '"exchange_rates"' in sql)
    offers = next(i for i, sql in enumerate(said) if '"listed_at"' in sql)
    assert lock < min(book, offers)


def test_a_match_by_hand_and_one_by_the_market_do_not_meet(funded, offer):
    matched_at(funded, offer)

    services.open_doors(actor=None, at=NOON)

    assert services.match_market(at=NOON) == []
