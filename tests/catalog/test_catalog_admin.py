from datetime import timedelta

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext
from djmoney.money import Money

from catalog.models import GpuModel, Offer, OfferPrice, Region, Supplier
from tests.catalog.pages import text_of
from tests.conftest import logged_in


@pytest.fixture(autouse=True)
def _at_noon(now):
    with time_machine.travel(now, tick=False):
        yield


@pytest.fixture
def rtx(catalog):
    return Offer.objects.get(supplier__slug="everxcloud", gpu__slug="rtx-4090")


@pytest.fixture
def save(staff, rtx):
    """
    Save the offer's form as staff see it, with changes.
    """

    def save(**changes):
        data = {
            "nodes": rtx.nodes,
            "available_until_0": "",
            "available_until_1": "",
            "is_listed": "on",
            "new_price": "",
            "currency": "USD",
            "valid_from_0": "",
            "valid_from_1": "",
            "reason": "",
            "prices-TOTAL_FORMS": 0,
            "prices-INITIAL_FORMS": 0,
            **changes,
        }
        data = {name: value for name, value in data.items() if value is not None}
        # Anew each time: the clock of a test may jump further than a session lasts.
        client = logged_in(staff)
        return client.post(f"/admin/catalog/offer/{rtx.pk}/change/", data)

    return save


def prices(offer):
    return [price.hourly_price for price in offer.prices.order_by("valid_from")]


def test_a_new_price_is_added_and_shown_at_once(save, rtx, client, staff, now):
    with time_machine.travel(now + timedelta(hours=1), tick=False):
        answer = save(new_price="0,35", reason="Power got dearer.")
        page = client.get("/workloads/fine-tuning/")

    assert answer.status_code == 302
    assert prices(rtx) == [Money("0.33", "USD"), Money("0.35", "USD")]
    version = rtx.prices.latest("valid_from")
    assert version.created_by == staff
    assert version.reason == "Power got dearer."
    assert version.valid_from == now + timedelta(hours=1)
    assert "from $0.35" in text_of(page)


def test_a_price_can_be_scheduled(save, rtx, now):
    answer = save(new_price="0.35", valid_from_0="2026-12-24", valid_from_1="18:00:00")

    assert answer.status_code == 302
    assert rtx.hourly_price(now) == Money("0.33", "USD")
    assert rtx.hourly_price(now + timedelta(days=25)) == Money("0.35", "USD")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"new_price": "1.000,35"}, "Write the price like 0.33 or 0,33"),
        ({"new_price": "-1"}, "Write the price like 0.33 or 0,33"),
        ({"new_price": "0.0000001"}, "Write the price like 0.33 or 0,33"),
        ({"new_price": "0"}, "A price is more than zero."),
        (
            {"new_price": "0.35", "valid_from_0": "2026-11-29", "valid_from_1": "0:00"},
            "A price cannot start in the past",
        ),
        ({"new_price": "0.35", "currency": "JPY"}, "Select a valid choice."),
    ],
)
def test_a_wrong_price_is_refused_with_what_to_do(save, rtx, changes, message):
    page = save(**changes)

    assert page.status_code == 200
    assert message in text_of(page)
    assert prices(rtx) == [Money("0.33", "USD")]


def test_a_price_far_from_the_median_asks_for_confirmation_and_reason(save, rtx, now):
    with time_machine.travel(now + timedelta(hours=1), tick=False):
        asked = save(new_price="33")
        half = save(new_price="33", is_confirmed="on")
        done = save(new_price="33", is_confirmed="on", reason="A new contract.")

    assert "more than 60% away from $0.33" in text_of(asked)
    assert 'value="33"' in asked.content.decode(), "what was typed stays"
    assert half.status_code == 200
    assert done.status_code == 302
    assert prices(rtx) == [Money("0.33", "USD")]
    waiting = rtx.proposals.get()
    assert waiting.hourly_price == Money("33", "USD")
    assert waiting.reason == "A new contract."


def test_a_second_price_from_the_same_moment_is_refused(save, rtx):
    page = save(new_price="0.35")

    assert page.status_code == 302
    assert prices(rtx) == [Money("0.33", "USD")]


def test_the_history_is_shown_and_cannot_be_edited(staff_client, rtx):
    page = staff_client.get(f"/admin/catalog/offer/{rtx.pk}/change/")

    source = page.content.decode()
    assert "$0.33" in text_of(page)
    assert 'name="prices-0-hourly_price' not in source
    assert 'name="free_nodes"' not in source


def test_the_currency_offered_is_the_one_of_the_price(staff_client, rtx, now):
    OfferPrice.objects.create(
        offer=rtx,
        hourly_price=Money("0.30", "GBP"),
        valid_from=now + timedelta(days=1),
        confirmed_at=now,
        created_at=now,
    )
    other = Offer.objects.filter(supplier__slug="gpurento").first()

    for offer, currency in ((rtx, "GBP"), (other, "USD")):
        page = staff_client.get(f"/admin/catalog/offer/{offer.pk}/change/")
        assert f'<option value="{currency}" selected>' in page.content.decode()


def test_nodes_taken_meanwhile_stay_taken(save, rtx):
    Offer.objects.filter(pk=rtx.pk).update(free_nodes=rtx.nodes - 3)

    save(nodes=rtx.nodes + 1)

    rtx.refresh_from_db()
    assert (rtx.nodes, rtx.free_nodes) == (13, 10)


def test_an_offer_leaves_the_list_and_comes_back_as_a_younger_one(save, rtx, now):
    save(is_listed=None)
    rtx.refresh_from_db()
    assert not rtx.is_listed

    with time_machine.travel(now + timedelta(days=1), tick=False):
        save()
    rtx.refresh_from_db()

    assert rtx.is_listed
    assert rtx.listed_at == now + timedelta(days=1)


def test_a_new_offer_starts_with_its_price_and_all_nodes_free(
    staff_client, catalog, now
):
    answer = staff_client.post(
        "/admin/catalog/offer/add/",
        {
            "supplier": Supplier.objects.get(slug="gpurento").pk,
            "gpu": GpuModel.objects.get(slug="mi355x").pk,
            "region": Region.objects.get(slug="eu-west-paris").pk,
            "gpus_per_node": 1,
            "nodes": 3,
            "is_listed": "on",
            "new_price": "4.49",
            "currency": "EUR",
            "prices-TOTAL_FORMS": 0,
            "prices-INITIAL_FORMS": 0,
        },
    )

    assert answer.status_code == 302
    offer = Offer.objects.get(gpu__slug="mi355x")
    assert (offer.nodes, offer.free_nodes, offer.listed_at) == (3, 3, now)
    assert prices(offer) == [Money("4.49", "EUR")]
    assert Offer.objects.live(now).filter(pk=offer.pk).exists()


def test_prices_are_confirmed_from_the_list(staff_client, catalog, now):
    stale = Offer.objects.filter(supplier__slug="gpurento")

    answer = staff_client.post(
        "/admin/catalog/offer/",
        {
            "action": "confirm_prices",
            "_selected_action": list(stale.values_list("pk", flat=True)),
        },
        follow=True,
    )

    assert "8 prices are confirmed." in text_of(answer)
    assert not Offer.objects.stale(now).exists()


@pytest.mark.parametrize(("price", "count"), [("live", 37), ("stale", 8), ("none", 0)])
def test_the_list_is_filtered_by_age_of_price(staff_client, catalog, price, count):
    page = staff_client.get(f"/admin/catalog/offer/?price={price}")

    assert page.context["cl"].result_count == count


def test_the_list_is_searched(staff_client, catalog):
    page = staff_client.get("/admin/catalog/offer/?q=rtx+4090+everx")

    assert page.context["cl"].result_count == 1


def test_the_lists_ask_as_many_queries_for_many_rows(staff_client, catalog):
    def count(path):
        with CaptureQueriesContext(connection) as queries:
            assert staff_client.get(path).status_code == 200
        return len(queries)

    for path in ("/admin/catalog/offer/", "/admin/catalog/offerprice/"):
        count(path)
        few = count(f"{path}?q=h200")
        assert count(path) <= few + 1, path


@pytest.mark.parametrize("path", ["add/", "{pk}/delete/"])
def test_price_versions_are_read_only(staff_client, rtx, path):
    pk = rtx.prices.get().pk

    answer = staff_client.get(f"/admin/catalog/offerprice/{path.format(pk=pk)}")

    assert answer.status_code == 403
    source = staff_client.get(f"/admin/catalog/offerprice/{pk}/change/")
    assert 'name="_save"' not in source.content.decode()


def test_offers_are_not_deleted(staff_client, rtx):
    answer = staff_client.post(
        f"/admin/catalog/offer/{rtx.pk}/delete/", {"post": "yes"}
    )

    assert answer.status_code == 403
    assert Offer.objects.filter(pk=rtx.pk).exists()


@pytest.mark.parametrize(
    "name",
    [
        "gpumodel",
        "basemodel",
        "region",
        "supplier",
        "storageplan",
        "image",
        "workload",
        "workloadtext",
    ],
)
def test_every_list_and_form_opens(staff_client, catalog, name):
    page = staff_client.get(f"/admin/catalog/{name}/")
    first = page.context["cl"].queryset.first()

    assert page.status_code == 200
    form = staff_client.get(f"/admin/catalog/{name}/{first.pk}/change/")
    assert form.status_code == 200


def test_renters_are_kept_out(renter_client, rtx):
    answer = renter_client.post(
        f"/admin/catalog/offer/{rtx.pk}/change/", {"new_price": "0.01"}
    )

    assert answer.status_code == 302
    assert "/login/" in answer["Location"]
    assert OfferPrice.objects.filter(offer=rtx).count() == 1
