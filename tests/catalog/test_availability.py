"""
What can be reserved now, and who is told when it is back.
"""

import threading
from datetime import timedelta

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext

from catalog.availability import read_matrix
from catalog.models import GpuModel, Offer, Region, StockAlert, Supplier
from catalog.services import (
    MOST_ALERTS,
    InStock,
    TooManyAlerts,
    ask_for_alert,
    confirm_prices,
    return_node,
    stop_alert,
    take_node,
    take_returns,
)
from tests.catalog.pages import tables_of, text_of

HOUR, DAY = timedelta(hours=1), timedelta(days=1)


@pytest.fixture
def cell(gpu, region, now):
    def cell(at=now, **changes):
        for row in read_matrix(at=at, **changes).rows:
            for found in row.cells:
                if (found.gpu, found.region) == (gpu, region):
                    return found
        raise AssertionError

    return cell


@pytest.mark.parametrize(
    ("free", "is_free", "is_few"),
    [(0, False, False), (1, True, True), (2, True, True), (3, True, False)],
)
def test_r23_few_nodes_are_shown_as_few(make_offer, cell, free, is_free, is_few):
    make_offer(free_nodes=free)

    found = cell()

    assert (found.free_nodes, found.is_free, found.is_few) == (free, is_free, is_few)


def test_counts_free_nodes_of_every_supplier_and_size(make_offer, cell):
    make_offer(free_nodes=2)
    make_offer(free_nodes=1, gpus_per_node=8, price="0.35")
    make_offer(
        free_nodes=4, supplier=Supplier.objects.create(slug="b", name="B"), price="0.50"
    )

    found = cell()

    assert found.free_nodes == 7
    assert found.best.gpus_per_node == 8


@pytest.mark.parametrize(
    "changes",
    [
        {"is_listed": False},
        {"available_until": True},
        {"price": None},
        {"confirmed_at": True},
    ],
)
def test_counts_only_what_can_be_reserved_now(make_offer, cell, now, changes):
    """R20: what is listed as available can be had."""
    values = {"available_until": now, "confirmed_at": now - 31 * DAY}
    make_offer(**{name: values.get(name, value) for name, value in changes.items()})

    found = cell()

    assert (found.free_nodes, found.best) == (0, None)
    is_on_the_list = not changes.keys() & {"is_listed", "available_until"}
    assert found.unconfirmed == (4 if is_on_the_list else 0)


def test_says_when_it_changed_last(offer, make_offer, cell, now):
    assert cell().changed_at == now, "when it was listed"
    take_node(offer_id=offer.pk, at=now + HOUR)
    return_node(offer_id=offer.pk, at=now + 2 * HOUR)

    assert cell(at=now + 3 * HOUR).changed_at == now + 2 * HOUR


def test_what_can_be_had_somewhere_comes_first(catalog, now):
    rows = read_matrix(at=now).rows

    assert len(rows) == GpuModel.objects.count()
    assert [row.gpu.label for row in rows if not row.is_free] == [
        "A100 80GB PCIe",
        "A16",
        "MI355X",
        "V100 16GB",
    ]
    assert [row.is_free for row in rows] == [True] * 28 + [False] * 4


@pytest.fixture
def gone(make_offer):
    return make_offer(free_nodes=0)


@pytest.fixture
def ask(gpu, region, renter, now):
    def ask(at=now, **changes):
        values = {"user_id": renter.pk, "gpu_id": gpu.pk, "region_id": region.pk}
        return ask_for_alert(**{**values, **changes}, at=at)

    return ask


def test_asking_twice_is_one_alert(gone, ask):
    assert ask() == ask()
    assert StockAlert.objects.count() == 1


def test_there_is_nothing_to_wait_for_while_it_can_be_had(offer, ask):
    with pytest.raises(InStock):
        ask()

    assert not StockAlert.objects.exists()


def other_gpus(gpu, count):
    fields = [field.name for field in GpuModel._meta.fields if field.name != "id"]
    values = {name: getattr(gpu, name) for name in fields}
    return [
        GpuModel.objects.create(
            **{**values, "slug": f"g{n}", "name": f"G{n}", "label": f"G{n}"}
        )
        for n in range(count)
    ]


def test_r24_the_limit_is_checked_before_an_alert_is_promised(gpu, gone, ask, stranger):
    others = other_gpus(gpu, MOST_ALERTS)
    for other in others:
        ask(gpu_id=other.pk)

    with pytest.raises(TooManyAlerts, match="20 alerts"):
        ask()
    assert StockAlert.objects.count() == 20
    ask(gpu_id=others[0].pk)
    ask(user_id=stranger.pk)
    assert StockAlert.objects.count() == 21


def test_a_return_is_told_once(gone, ask, now):
    alert = ask()
    assert take_returns(at=now) == []

    return_node(offer_id=gone.pk, at=now)

    assert take_returns(at=now) == [alert]
    assert take_returns(at=now + 2 * DAY) == []


def test_the_next_return_is_told_again(gone, ask, now):
    alert = ask()
    return_node(offer_id=gone.pk, at=now)
    take_returns(at=now)
    take_node(offer_id=gone.pk, at=now + DAY)
    take_returns(at=now + DAY)

    return_node(offer_id=gone.pk, at=now + DAY + HOUR)

    assert take_returns(at=now + DAY + HOUR) == [alert]


def test_what_comes_and_goes_is_told_once_a_day(gone, ask, now):
    alert = ask()
    told = []
    for hours in range(0, 26, 2):
        at = now + hours * HOUR
        return_node(offer_id=gone.pk, at=at)
        told += [hours for _alert in take_returns(at=at)]
        if hours < 24:
            take_node(offer_id=gone.pk, at=at + HOUR)
            take_returns(at=at + HOUR)

    assert told == [0, 24]
    assert StockAlert.objects.get() == alert


def test_a_price_that_is_confirmed_again_is_a_return(make_offer, ask, now):
    offer = make_offer(confirmed_at=now - 31 * DAY)
    alert = ask()
    assert take_returns(at=now) == []

    confirm_prices(offer_ids=[offer.pk], at=now)

    assert take_returns(at=now) == [alert]


def test_nobody_else_is_told(gone, ask, make_offer, gpu, now):
    elsewhere = Region.objects.create(slug="b", name="B", city="Bergen", country="NO")
    ask()
    make_offer(region=elsewhere)

    assert take_returns(at=now) == []


def test_a_closed_account_is_not_told(gone, ask, renter, now):
    ask()
    renter.is_active = False
    renter.save()
    return_node(offer_id=gone.pk, at=now)

    assert take_returns(at=now) == []


def test_a_stopped_alert_is_forgotten(gone, ask, now):
    alert = ask()

    assert stop_alert(alert_id=alert.pk)
    assert not stop_alert(alert_id=alert.pk)
    return_node(offer_id=gone.pk, at=now)
    assert take_returns(at=now) == []


@pytest.mark.django_db(transaction=True)
def test_two_workers_tell_a_return_once(gone, ask, now):
    ask()
    return_node(offer_id=gone.pk, at=now)
    told = []

    def work():
        try:
            told.extend(take_returns(at=now))
        finally:
            connection.close()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(told) == 1


@pytest.fixture
def _at_noon(now):
    with time_machine.travel(now, tick=False):
        yield


@pytest.mark.usefixtures("_at_noon")
def test_page_shows_every_gpu_in_every_region(catalog, client):
    rows = {row[0]: row for row in tables_of(client.get("/availability/"))[0]}

    assert len(rows) == 32
    assert rows["RTX 4090 24 GB"] == [
        "RTX 4090 24 GB",
        "12 nodes free $0.33 EverXCloud, as of Nov 30, 2026",
        "none free 6 nodes at a price that is not confirmed"
        " Log in to be told : RTX 4090, EU West · Paris",
        "Nov 30, 2026, 12:00 PM",
    ]
    assert rows["V100 32GB 32 GB"][1].startswith("2 nodes left $")


@pytest.mark.usefixtures("_at_noon")
@pytest.mark.parametrize("language", ["", "/es", "/id"])
def test_page_lets_a_person_ask_and_stop(catalog, renter_client, renter, language):
    place = {"place": "a16 eu-west-paris"}

    asked = renter_client.post(f"{language}/availability/alerts/", place, follow=True)

    alert = StockAlert.objects.get(user=renter)
    assert f"{language}/availability/alerts/{alert.pk}/stop/" in asked.content.decode()
    assert (alert.gpu.slug, alert.region.slug) == ("a16", "eu-west-paris")
    renter_client.post(f"{language}/availability/alerts/{alert.pk}/stop/")
    assert not StockAlert.objects.exists()


@pytest.mark.usefixtures("_at_noon")
def test_page_says_why_there_is_no_alert(catalog, renter_client):
    answer = renter_client.post(
        "/availability/alerts/", {"place": "rtx-4090 eu-central-frankfurt"}, follow=True
    )

    assert "can be reserved there now" in text_of(answer)
    assert not StockAlert.objects.exists()


@pytest.mark.parametrize("place", ["", "a16", "a16 x", "x eu-west-paris"])
def test_an_unknown_place_is_not_found(catalog, renter_client, place):
    answer = renter_client.post("/availability/alerts/", {"place": place})

    assert answer.status_code == 404


def test_a_guest_logs_in_first(catalog, client):
    answer = client.post("/availability/alerts/", {"place": "a16 eu-west-paris"})

    assert answer.status_code == 302
    assert not StockAlert.objects.exists()


def test_looking_at_the_link_of_a_mail_stops_nothing(gone, ask, client):
    """A mail program that opens links must not end an alert."""
    alert = ask()
    path = f"/availability/alerts/{alert.pk}/stop/"

    assert "Stop this alert?" in text_of(client.get(path))
    assert StockAlert.objects.exists()
    client.post(path, {"List-Unsubscribe": "One-Click"})
    assert not StockAlert.objects.exists()
    assert "This alert is stopped" in text_of(client.get(path))


def test_asks_as_many_queries_for_many_offers(catalog, renter_client, now):
    def queries():
        with CaptureQueriesContext(connection) as found:
            renter_client.get("/availability/")
        return len(found)

    queries()
    before = queries()
    for number in range(5):
        supplier = Supplier.objects.create(slug=f"s{number}", name=f"S{number}")
        for gpu in GpuModel.objects.all():
            Offer.objects.create(
                supplier=supplier,
                gpu=gpu,
                region=Region.objects.first(),
                nodes=1,
                free_nodes=1,
                listed_at=now,
            )

    assert queries() == before <= 10
