"""
Prices far from the median: one person proposes them, another one approves.
"""

from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction
from djmoney.money import Money

from catalog.models import OfferPrice, PriceProposal
from catalog.price_bounds import PriceFarFromMedian
from catalog.price_plans import AlreadyWaiting, Line, Outcome, plan_prices
from catalog.services import (
    CannotDecide,
    PricesRefused,
    approve_prices,
    propose_price,
    refuse_prices,
    set_price,
    set_prices,
    undo_price,
)
from marketplace.models import User

USUAL, FAR = Money("0.40", "USD"), Money("4.00", "USD")


@pytest.fixture
def at(now):
    return now + timedelta(hours=1)


@pytest.fixture
def later(at):
    return at + timedelta(hours=1)


@pytest.fixture
def author(db):
    return User.objects.create_user("author@example.com", is_staff=True)


@pytest.fixture
def second(db):
    return User.objects.create_user("second@example.com", is_staff=True)


def line(offer, price=FAR, **changes):
    values = {"reason": " A new contract. ", "is_meant": True, **changes}
    return Line(number=offer.pk, offer_id=offer.pk, price=price, **values)


@pytest.fixture
def proposal(offer, author, at):
    set_prices(lines=[line(offer)], actor=author, at=at)
    return PriceProposal.objects.get()


def approve(proposal, actor, at, reason="I read the contract."):
    return approve_prices(proposal_ids=[proposal.pk], actor=actor, at=at, reason=reason)


def test_an_unlikely_price_waits_and_costs_nobody_anything(
    offer, proposal, author, at, later
):
    assert (proposal.hourly_price, proposal.reason) == (FAR, "A new contract.")
    assert (proposal.proposed_by, proposal.valid_from) == (author, at)
    assert offer.hourly_price(later) == USUAL
    assert offer.prices.count() == 1


def test_a_second_person_lets_it_begin(offer, proposal, author, second, later):
    [version] = approve(proposal, second, later)

    assert offer.hourly_price(later) == FAR
    assert offer.hourly_price(later - timedelta(seconds=1)) == USUAL
    assert (version.created_by, version.reason) == (author, "A new contract.")
    proposal.refresh_from_db()
    assert (proposal.version, proposal.decided_by) == (version, second)
    assert proposal.decision_reason == "I read the contract."


def test_nobody_approves_their_own(offer, proposal, author, later):
    with pytest.raises(CannotDecide, match="yourself"):
        approve(proposal, author, later)

    proposal.refresh_from_db()
    assert proposal.decided_at is None
    assert offer.prices.count() == 1


def test_the_database_lets_nobody_approve_their_own(proposal, author, later):
    with (
        pytest.raises(IntegrityError, match="priceproposal_four_eyes"),
        transaction.atomic(),
    ):
        PriceProposal.objects.update(
            decided_by=author,
            decided_at=later,
            decision_reason="x",
            version=OfferPrice.objects.first(),
        )


def test_what_a_command_proposed_anybody_of_staff_approves(offer, second, at, later):
    set_prices(lines=[line(offer)], actor=None, at=at)

    approve(PriceProposal.objects.get(), second, later)

    assert offer.hourly_price(later) == FAR


@pytest.mark.parametrize("is_author", [True, False])
def test_it_is_refused_with_a_reason(offer, proposal, author, second, later, is_author):
    actor = author if is_author else second
    chosen = {"proposal_ids": [proposal.pk], "actor": actor, "at": later}
    with pytest.raises(CannotDecide, match="Say why"):
        refuse_prices(**chosen, reason=" ")

    assert refuse_prices(**chosen, reason="A slip.") == 1

    proposal.refresh_from_db()
    assert (proposal.version, proposal.decided_by) == (None, actor)
    assert offer.prices.count() == 1


def test_it_is_decided_once(offer, proposal, second, later):
    refuse_prices(proposal_ids=[proposal.pk], actor=second, at=later, reason="A slip.")

    with pytest.raises(CannotDecide, match="meanwhile"):
        approve(proposal, second, later)

    assert offer.prices.count() == 1


def test_a_price_that_changed_since_is_not_overwritten(
    offer, proposal, author, second, later
):
    half = later - timedelta(minutes=30)
    set_price(
        offer_id=offer.pk,
        hourly_price=Money("0.41", "USD"),
        valid_from=half,
        actor=author,
        at=half,
    )

    with pytest.raises(CannotDecide, match="has changed since"):
        approve(proposal, second, later)

    assert offer.hourly_price(later) == Money("0.41", "USD")


def test_a_start_that_has_passed_becomes_that_of_the_approval(
    offer, author, second, at
):
    start = at + timedelta(days=2)
    set_prices(lines=[line(offer, valid_from=start)], actor=author, at=at)
    proposal = PriceProposal.objects.get()

    assert proposal.start(at) == start
    [version] = approve(proposal, second, start + timedelta(hours=1))

    assert version.valid_from == start + timedelta(hours=1)


def test_prices_that_were_proposed_together_are_approved_one_by_one(
    offer, author, second, at, later
):
    scheduled = at + timedelta(days=2)
    lines = [line(offer), line(offer, Money("5", "USD"), valid_from=scheduled)]
    set_prices(lines=lines, actor=author, at=at)

    for proposal in PriceProposal.objects.order_by("pk"):
        approve(proposal, second, later)

    assert offer.hourly_price(later) == FAR
    assert offer.hourly_price(scheduled) == Money("5", "USD")


def test_all_that_are_chosen_are_approved_or_none(
    make_offer, author, second, at, later
):
    mine, theirs = make_offer(), make_offer(gpus_per_node=8)
    set_prices(lines=[line(mine)], actor=author, at=at)
    set_prices(lines=[line(theirs)], actor=second, at=at)
    chosen = PriceProposal.objects.values_list("pk", flat=True)

    with pytest.raises(CannotDecide):
        approve_prices(proposal_ids=chosen, actor=author, at=later, reason="Fine.")
    with pytest.raises(CannotDecide, match="at least one"):
        approve_prices(proposal_ids=[], actor=author, at=later, reason="Fine.")

    assert PriceProposal.objects.waiting().count() == 2
    assert OfferPrice.objects.count() == 2


def test_an_offer_has_one_that_waits(offer, proposal, author, at):
    with pytest.raises(PricesRefused) as caught:
        set_prices(lines=[line(offer, Money("3.90", "USD"))], actor=author, at=at)
    with pytest.raises(AlreadyWaiting):
        propose_price(
            offer_id=offer.pk,
            hourly_price=FAR,
            valid_from=at,
            actor=author,
            at=at,
            reason="Meant.",
        )

    assert "waits to be approved already" in caught.value.plan.refused[0].refusal
    assert PriceProposal.objects.count() == 1


def test_a_usual_price_of_the_same_file_begins_at_once(make_offer, author, at):
    far, usual = make_offer(), make_offer(gpus_per_node=8)
    lines = [line(far), line(usual, Money("0.41", "USD"))]

    plan = plan_prices(lines, at=at)
    set_prices(lines=lines, actor=author, at=at, digest=plan.digest)

    assert plan.counts == {Outcome.WAITING: 1, Outcome.CHANGED: 1}
    assert plan.can_be_saved
    assert far.hourly_price(at) == USUAL
    assert usual.hourly_price(at) == Money("0.41", "USD")


def test_a_slip_of_the_currency_needs_a_second_person_too(offer, author, at):
    set_prices(lines=[line(offer, Money("0.40", "EUR"))], actor=author, at=at)

    assert PriceProposal.objects.count() == 1
    assert offer.prices.count() == 1


def test_one_call_sets_no_price_that_is_far_off(offer, author, at):
    with pytest.raises(PriceFarFromMedian):
        set_price(
            offer_id=offer.pk,
            hourly_price=FAR,
            valid_from=at,
            actor=author,
            at=at,
            reason="A new contract.",
        )

    assert offer.prices.count() == 1


def test_what_was_approved_is_undone_like_any_other(
    offer, proposal, author, second, later
):
    [version] = approve(proposal, second, later)
    after = later + timedelta(hours=1)

    undo_price(version_id=version.pk, actor=author, at=after)

    assert offer.hourly_price(after) == USUAL
