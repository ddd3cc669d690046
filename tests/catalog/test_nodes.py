import threading
from datetime import timedelta

import pytest
from django.db import connection

from catalog.models import Offer
from catalog.services import (
    NoFreeNode,
    return_node,
    set_nodes,
    take_node,
    withdraw_node,
)


def test_are_taken_until_none_is_left(make_offer, now):
    offer = make_offer(nodes=2, free_nodes=2)
    take_node(offer_id=offer.pk, at=now)
    take_node(offer_id=offer.pk, at=now)

    with pytest.raises(NoFreeNode, match="Choose another"):
        take_node(offer_id=offer.pk, at=now)

    offer.refresh_from_db()
    assert (offer.nodes, offer.free_nodes) == (2, 0)


def test_are_returned_but_never_more_than_there_are(make_offer, now):
    offer = make_offer(nodes=2, free_nodes=1)

    return_node(offer_id=offer.pk, at=now)
    return_node(offer_id=offer.pk, at=now)

    offer.refresh_from_db()
    assert offer.free_nodes == 2


@pytest.mark.parametrize(
    ("free", "nodes", "free_after"),
    [
        pytest.param(1, 6, 3, id="two more of four, three taken"),
        pytest.param(3, 2, 1, id="two fewer of four, one taken"),
        pytest.param(1, 2, 0, id="two fewer of four, three taken"),
        pytest.param(4, 0, 0, id="withdrawn"),
    ],
)
def test_that_are_taken_stay_taken_when_the_number_changes(
    make_offer, now, free, nodes, free_after
):
    offer = make_offer(nodes=4, free_nodes=free)

    set_nodes(offer_id=offer.pk, nodes=nodes, at=now)

    offer.refresh_from_db()
    assert (offer.nodes, offer.free_nodes) == (nodes, free_after)


def test_that_were_taken_back_leave_with_the_first_that_are_returned(make_offer, now):
    offer = make_offer(nodes=3, free_nodes=0)
    set_nodes(offer_id=offer.pk, nodes=1, at=now)

    free = []
    for _ in range(3):
        return_node(offer_id=offer.pk, at=now)
        free.append(Offer.objects.get().free_nodes)

    # With two and with one still taken, the one node that is left is not free.
    assert free == [0, 0, 1]


def test_that_were_taken_back_are_offered_again(make_offer, now):
    offer = make_offer(nodes=3, free_nodes=0)
    set_nodes(offer_id=offer.pk, nodes=1, at=now)

    set_nodes(offer_id=offer.pk, nodes=4, at=now)

    offer.refresh_from_db()
    assert (offer.nodes, offer.free_nodes, offer.leaving_nodes) == (4, 1, 0)


@pytest.mark.parametrize(
    ("nodes", "after"),
    [
        pytest.param(3, (2, 0, 0), id="one of those that it has"),
        pytest.param(1, (1, 0, 1), id="one of those that it has no more"),
    ],
)
def test_that_are_withdrawn_are_offered_no_more(make_offer, now, nodes, after):
    offer = make_offer(nodes=3, free_nodes=0)
    set_nodes(offer_id=offer.pk, nodes=nodes, at=now)

    withdraw_node(offer_id=offer.pk)

    offer.refresh_from_db()
    assert (offer.nodes, offer.free_nodes, offer.leaving_nodes) == after


def test_say_when_their_number_changed_last(make_offer, now):
    offer = make_offer(nodes=2, free_nodes=1)
    later, latest = now + timedelta(hours=1), now + timedelta(hours=2)

    def changed_at():
        return Offer.objects.get().free_changed_at

    assert changed_at() is None
    take_node(offer_id=offer.pk, at=later)
    assert changed_at() == later
    return_node(offer_id=offer.pk, at=latest)
    assert changed_at() == latest
    set_nodes(offer_id=offer.pk, nodes=5, at=later)
    assert changed_at() == later


def test_that_stay_as_they_are_keep_the_moment_of_their_last_change(make_offer, now):
    offer = make_offer(nodes=2, free_nodes=0)
    set_nodes(offer_id=offer.pk, nodes=3, at=now)
    later = now + timedelta(hours=1)

    Offer.objects.update(free_nodes=0)
    with pytest.raises(NoFreeNode):
        take_node(offer_id=offer.pk, at=later)
    Offer.objects.update(free_nodes=3)
    return_node(offer_id=offer.pk, at=later)
    set_nodes(offer_id=offer.pk, nodes=3, at=later)

    assert Offer.objects.get().free_changed_at == now


@pytest.mark.django_db(transaction=True)
def test_go_to_exactly_as_many_as_there_are(make_offer, now):
    offer = make_offer(nodes=3, free_nodes=3)
    outcomes = []

    def take():
        try:
            take_node(offer_id=offer.pk, at=now)
            outcomes.append("taken")
        except NoFreeNode:
            outcomes.append("none")
        finally:
            connection.close()

    threads = [threading.Thread(target=take) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(outcomes) == ["none"] * 5 + ["taken"] * 3
    assert Offer.objects.get().free_nodes == 0
