"""
Many prices at once: all or none, told what happened in between, and back again.
"""

import threading
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from djmoney.money import Money

from catalog.models import OfferPrice, PriceFile
from catalog.price_changes import recent_saves
from catalog.price_files import read_lines
from catalog.price_plans import Line, plan_prices
from catalog.services import (
    CannotUndo,
    FileApplied,
    PlanMoved,
    PricesRefused,
    apply_file,
    keep_file,
    set_price,
    set_prices,
    undo_price,
    undo_save,
)
from catalog.services.prices import add_version
from marketplace.models import User

FILE = (
    "supplier,gpu,region,gpus_per_node,hourly_price,currency\n"
    "acme,test-gpu,eu-north,1,0.41,USD\n"
)


@pytest.fixture
def at(now):
    return now + timedelta(hours=1)


@pytest.fixture
def staff(db):
    return User.objects.create_user("staff@example.com", is_staff=True)


def line(offer, price="0.41", **changes):
    values = {"number": offer.pk, "offer_id": offer.pk, "price": Money(price, "USD")}
    return Line(**{**values, **changes})


def test_saves_all_of_them_with_one_moment(make_offer, staff, at):
    offers = [make_offer(), make_offer(gpus_per_node=8)]

    plan = set_prices(
        lines=[line(offer, reason=" dearer power ") for offer in offers],
        actor=staff,
        at=at,
    )

    assert plan.counts == {"changed": 2}
    for offer in offers:
        version = offer.prices.get(valid_to=None)
        assert version.hourly_price == Money("0.41", "USD")
        assert version.valid_from == version.created_at == version.confirmed_at == at
        assert (version.created_by, version.reason) == (staff, "dearer power")


def test_saves_none_of_them_if_one_is_refused(make_offer, staff, at):
    offers = [make_offer(), make_offer(gpus_per_node=8)]

    with pytest.raises(PricesRefused) as caught:
        set_prices(lines=[line(offers[0]), line(offers[1], "40")], actor=staff, at=at)

    [refused] = caught.value.plan.refused
    assert refused.offer == offers[1]
    assert refused.needs_reason
    assert OfferPrice.objects.count() == 2


# A reason for everything that is saved together is none for this very price.
@pytest.mark.parametrize(
    ("changes", "waits"),
    [
        ({"reason": "weekly"}, False),
        ({"reason": "", "is_meant": True}, False),
        ({"reason": "A new contract", "is_meant": True}, True),
    ],
)
def test_an_unlikely_price_needs_a_reason_of_its_own(offer, staff, at, changes, waits):
    lines = [line(offer, "4.00", **changes)]

    if waits:
        set_prices(lines=lines, actor=staff, at=at)
    else:
        with pytest.raises(PricesRefused):
            set_prices(lines=lines, actor=staff, at=at)

    assert offer.prices.count() == 1
    assert offer.proposals.count() == waits


def test_tells_what_somebody_else_saved_in_between(offer, staff, at):
    seen = offer.prices.get().pk
    set_price(
        offer_id=offer.pk,
        hourly_price=Money("0.45", "USD"),
        valid_from=at,
        actor=None,
        at=at,
    )

    with pytest.raises(PricesRefused) as caught:
        set_prices(
            lines=[line(offer, seen=seen)], actor=staff, at=at + timedelta(minutes=1)
        )

    [row] = caught.value.plan.refused
    assert row.is_overtaken
    assert row.before.price == Money("0.45", "USD")
    assert offer.prices.count() == 2
    newest = offer.prices.get(valid_to=None).pk
    set_prices(
        lines=[line(offer, seen=newest)], actor=staff, at=at + timedelta(minutes=2)
    )
    assert offer.prices.count() == 3


def test_an_offer_that_is_gone_is_refused(offer, staff, at):
    gone = Line(number=1, offer_id=offer.pk + 1, price=Money("0.41", "USD"))

    with pytest.raises(PricesRefused) as caught:
        set_prices(lines=[gone], actor=staff, at=at)

    assert "does not exist" in caught.value.plan.refused[0].refusal


def test_locks_the_offers_in_order_before_it_reads_their_prices(make_offer, staff, at):
    offers = [make_offer(), make_offer(gpus_per_node=8)]

    with CaptureQueriesContext(connection) as queries:
        set_prices(
            lines=[line(offer) for offer in reversed(offers)], actor=staff, at=at
        )

    statements = [query["sql"] for query in queries]
    lock = next(i for i, sql in enumerate(statements) if "FOR NO KEY UPDATE" in sql)
    read = next(i for i, sql in enumerate(statements) if "valid_to" in sql)
    assert lock < read
    assert "ORDER BY 1 ASC FOR NO KEY UPDATE" in statements[lock]


@pytest.mark.django_db(transaction=True)
def test_of_two_who_save_at_once_the_second_is_told(offer, staff, at):
    seen = offer.prices.get().pk
    outcomes = []

    def save(price):
        try:
            set_prices(lines=[line(offer, price, seen=seen)], actor=staff, at=at)
            outcomes.append("saved")
        except PricesRefused as refusal:
            outcomes.append(refusal.plan.rows[0].is_overtaken)
        finally:
            connection.close()

    threads = [threading.Thread(target=save, args=[p]) for p in ("0.41", "0.42")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(outcomes, key=str) == [True, "saved"]
    assert offer.prices.count() == 2


def test_a_file_is_applied_once(offer, staff, at):
    file = keep_file(name="prices.csv", content=FILE, actor=staff, at=at)
    digest = digest_of(file, at)

    apply_file(file_id=file.pk, actor=staff, at=at, digest=digest)
    with pytest.raises(FileApplied):
        apply_file(file_id=file.pk, actor=staff, at=at, digest=digest)

    assert PriceFile.objects.get().applied_at == at
    assert offer.prices.count() == 2


def digest_of(file, at):
    return plan_prices(read_lines(file.content), at=at).digest


def test_a_file_is_not_applied_if_it_would_do_something_else_now(offer, staff, at):
    file = keep_file(name="prices.csv", content=FILE, actor=staff, at=at)
    digest = digest_of(file, at)
    set_price(
        offer_id=offer.pk,
        hourly_price=Money("0.45", "USD"),
        valid_from=at,
        actor=None,
        at=at,
    )

    with pytest.raises(PlanMoved):
        apply_file(
            file_id=file.pk, actor=staff, at=at + timedelta(minutes=1), digest=digest
        )

    assert PriceFile.objects.get().applied_at is None
    assert offer.prices.count() == 2


def test_goes_back_by_a_new_version(offer, staff, at):
    set_prices(lines=[line(offer, "0.45")], actor=staff, at=at)
    later = at + timedelta(hours=1)

    undone = undo_price(
        version_id=offer.prices.get(valid_to=None).pk, actor=staff, at=later
    )

    assert undone.hourly_price == Money("0.40", "USD")
    assert (undone.valid_from, undone.created_by) == (later, staff)
    assert offer.hourly_price(at) == Money("0.45", "USD"), "what was charged stays"
    assert offer.hourly_price(later) == Money("0.40", "USD")
    assert offer.prices.count() == 3


def test_goes_back_however_far_that_is_from_what_the_gpu_costs(offer, staff, at):
    add_version(offer, Money("4.00", "USD"), valid_from=at, actor=staff, at=at)
    OfferPrice.objects.filter(valid_to__isnull=False).update(confirmed_at=at)

    undo_price(
        version_id=offer.prices.get(valid_to=None).pk,
        actor=staff,
        at=at + timedelta(days=40),
    )

    assert offer.hourly_price(at + timedelta(days=40)) == Money("0.40", "USD")


def test_a_scheduled_price_that_is_undone_is_never_charged(offer, staff, at):
    start = at + timedelta(days=3)
    set_prices(lines=[line(offer, "0.45", valid_from=start)], actor=staff, at=at)

    undone = undo_price(
        version_id=offer.prices.get(valid_to=None).pk, actor=staff, at=at
    )

    assert undone.valid_from == start + timedelta(microseconds=1)
    assert offer.hourly_price(start + timedelta(seconds=1)) == Money("0.40", "USD")


def test_an_undone_change_can_be_made_again(offer, staff, at):
    set_prices(lines=[line(offer, "0.45")], actor=staff, at=at)
    for hours in (1, 2):
        undone = undo_price(
            version_id=offer.prices.get(valid_to=None).pk,
            actor=staff,
            at=at + timedelta(hours=hours),
        )

    assert undone.hourly_price == Money("0.45", "USD")


def test_there_is_no_way_back_from_the_first_price_or_past_a_newer_one(
    offer, staff, at
):
    first = offer.prices.get()
    with pytest.raises(CannotUndo, match="no earlier price"):
        undo_price(version_id=first.pk, actor=staff, at=at)

    set_prices(lines=[line(offer, "0.45")], actor=staff, at=at)
    middle = offer.prices.get(valid_to=None)
    set_prices(lines=[line(offer, "0.46")], actor=staff, at=at + timedelta(minutes=1))

    with pytest.raises(CannotUndo, match="changed again since"):
        undo_price(version_id=middle.pk, actor=staff, at=at + timedelta(hours=1))
    assert offer.prices.count() == 3


def test_all_prices_of_one_save_go_back_together_or_none(make_offer, staff, at):
    offers = [make_offer(), make_offer(gpus_per_node=8)]
    later = at + timedelta(hours=1)
    set_prices(lines=[line(offer, "0.45") for offer in offers], actor=staff, at=at)
    save = {"created_at": at, "created_by": staff.pk, "actor": staff}

    assert len(undo_save(**save, at=later)) == 2
    with pytest.raises(CannotUndo):
        undo_save(**save, at=later + timedelta(hours=1))

    for offer in offers:
        assert offer.hourly_price(later) == Money("0.40", "USD")
    assert OfferPrice.objects.count() == 6


def test_lists_what_was_saved_together_and_what_can_be_undone(
    make_offer, staff, at, now
):
    offers = [make_offer(), make_offer(gpus_per_node=8)]
    set_prices(lines=[line(offer, "0.45") for offer in offers], actor=staff, at=at)
    set_prices(
        lines=[line(offers[0], "0.46")], actor=staff, at=at + timedelta(minutes=1)
    )

    latest, middle, first = recent_saves(page=None).object_list

    assert [change.before for change in latest.changes] == [Money("0.45", "USD")]
    assert [save.count for save in (latest, middle, first)] == [1, 2, 2]
    assert [change.can_be_undone for change in middle.changes] == [False, True]
    assert not middle.can_be_undone
    assert [change.before for change in first.changes] == [None, None]
    assert (middle.email, first.email) == ("staff@example.com", None)
