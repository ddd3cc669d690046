"""
Staff's price grid: looked at first, saved as a whole, taken back.
"""

import re
from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from djmoney.money import Money

from catalog import services as catalog_services
from catalog.models import GpuModel, Offer, OfferPrice, PriceFile, Region, Supplier
from catalog.price_plans import Line, plan_prices
from marketplace.price_effects import Effect, effects_of
from tests.marketplace.prices import LATER, price_now, words
from tests.workspaces.conftest import NOON, pay_in
from workspaces import services as workspaces

pytestmark = pytest.mark.usefixtures("an_hour_later")


def cell(offer):
    """
    Return the name of the offer's input on the grid.
    """
    version = offer.prices.get(valid_to=None)
    return f"price-{offer.pk}-{version.pk}-{version.pk}"


def test_grid_has_an_input_for_every_offer(staff_client, offer):
    page = staff_client.get("/staff/prices/?gpu=rtx-4090")

    source = page.content.decode()
    assert source.count('name="price-') == 3, "EverXCloud once, GPURento twice"
    assert f'name="{cell(offer)}" value="0.33"' in source
    assert "not confirmed lately" in words(page)
    assert (
        'aria-label="Price of RTX 4090, EverXCloud, EU Central · Frankfurt"' in source
    )


@pytest.mark.parametrize(
    ("query", "inputs"),
    [("supplier=gpurento", 8), ("region=eu-west-paris&gpu=rtx-4090", 1), ("gpu=x", 0)],
)
def test_grid_is_filtered(staff_client, catalog, query, inputs):
    page = staff_client.get(f"/staff/prices/?{query}")

    assert page.content.decode().count('name="price-') == inputs


def test_looking_at_the_difference_saves_nothing(staff_client, offer):
    page = staff_client.post(
        "/staff/prices/check/", {cell(offer): "0,30", "reason": "", "valid_from": ""}
    )

    text = words(page)
    assert page.status_code == 200
    assert "RTX 4090, EverXCloud, EU Central · Frankfurt $0.33" in text
    assert "-9.1%" in text, "0.03 of 0.33"
    assert "RTX 4090, Frankfurt$0.33 → $0.30" in text
    assert price_now(offer) == Money("0.33", "USD")


def test_saves_what_was_changed_and_nothing_else(staff_client, staff, catalog, offer):
    grid = staff_client.get("/staff/prices/").content.decode()
    inputs = dict(re.findall(r'name="(price-[\d-]+)" value="([\d.]*)"', grid))
    before = OfferPrice.objects.count()

    answer = staff_client.post(
        "/staff/prices/save/",
        {**inputs, cell(offer): "0.30", "reason": "cheaper power"},
        follow=True,
    )

    assert "1 price is saved." in words(answer)
    version = offer.prices.get(valid_to=None)
    assert version.hourly_price == Money("0.30", "USD")
    assert (version.created_by, version.reason) == (staff, "cheaper power")
    assert OfferPrice.objects.count() == before + 1


def test_schedules_prices_in_the_zone_of_staff(staff_client, staff, offer):
    staff.time_zone = "Europe/Berlin"
    staff.save()

    staff_client.post(
        "/staff/prices/save/",
        {cell(offer): "0.30", "valid_from": "2026-12-02T00:00"},
    )

    start = NOON.replace(month=12, day=1, hour=23)
    assert price_now(offer, start - timedelta(seconds=1)) == Money("0.33", "USD")
    assert price_now(offer, start) == Money("0.30", "USD")
    assert "$0.30 from Dec 2, 2026" in words(
        staff_client.get("/staff/prices/?gpu=rtx-4090")
    )


def test_says_that_nothing_was_changed(staff_client, offer):
    answer = staff_client.post(
        "/staff/prices/check/", {cell(offer): "0.33"}, follow=True
    )

    assert "You changed no price yet." in words(answer)


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        ("", "cannot be taken away"),
        ("-0.30", "Write the price like"),
        ("0.3000001", "Write the price like"),
        ("0.30 CHF", "no currency “CHF”"),
        ("0.30 EUR", "Nobody asks for this GPU in EUR"),
        ("0", "more than zero"),
        ("33", "more than 60% away from $0.33"),
    ],
)
def test_refuses_and_keeps_what_was_typed(staff_client, offer, typed, why):
    for verb in ("check", "save"):
        page = staff_client.post(f"/staff/prices/{verb}/", {cell(offer): typed})

        assert page.status_code == 422
        assert why in words(page)
        assert f'name="{cell(offer)}" value="{typed}"' in page.content.decode()
    assert price_now(offer) == Money("0.33", "USD")
    assert offer.prices.count() == 1


def test_an_unlikely_price_waits_with_a_reason_of_its_own(staff_client, offer):
    data = {cell(offer): "3.30"}

    for_all = staff_client.post("/staff/prices/save/", {**data, "reason": "weekly"})
    own = staff_client.post(
        "/staff/prices/save/", {**data, f"reason-{offer.pk}": "A new contract"}
    )

    assert for_all.status_code == 422
    assert f'name="reason-{offer.pk}"' in for_all.content.decode()
    assert own.status_code == 302
    assert offer.proposals.get().reason == "A new contract"
    assert offer.prices.count() == 1


def test_a_start_that_is_none_saves_nothing(staff_client, offer):
    page = staff_client.post(
        "/staff/prices/save/", {cell(offer): "0.30", "valid_from": "soon"}
    )

    assert page.status_code == 422
    assert offer.prices.count() == 1


def test_a_start_in_the_past_is_refused(staff_client, offer):
    page = staff_client.post(
        "/staff/prices/save/", {cell(offer): "0.30", "valid_from": "2026-11-30T12:30"}
    )

    assert page.status_code == 422
    assert "cannot start in the past" in words(page)


def test_tells_what_somebody_else_saved_and_loses_nothing(staff_client, offer):
    name = cell(offer)
    catalog_services.set_price(
        offer_id=offer.pk,
        hourly_price=Money("0.35", "USD"),
        valid_from=NOON + timedelta(minutes=30),
        actor=None,
        at=NOON + timedelta(minutes=30),
    )

    page = staff_client.post("/staff/prices/save/", {name: "0.30"})

    text = words(page)
    assert page.status_code == 422
    assert "Somebody changed this price while you were at it." in text
    assert "$0.35" in text
    assert f'name="{cell(offer)}" value="0.30"' in page.content.decode()
    assert price_now(offer) == Money("0.35", "USD")


def test_what_somebody_else_changed_is_not_put_back_unseen(staff_client, offer):
    """A cell that staff left alone is no wish for its old price."""
    name = cell(offer)
    catalog_services.set_price(
        offer_id=offer.pk,
        hourly_price=Money("0.35", "USD"),
        valid_from=NOON + timedelta(minutes=30),
        actor=None,
        at=NOON + timedelta(minutes=30),
    )

    staff_client.post("/staff/prices/save/", {name: "0.33"})

    assert price_now(offer) == Money("0.35", "USD")
    assert offer.prices.count() == 2


def test_shows_what_rentals_and_requests_are_touched(
    staff_client, make_funded, offer, open_market
):
    """R43: staff see the impact before they save; rentals keep their price."""
    running = make_funded(wanted_limit=Decimal("0.33"))
    open_market()
    for limit in ("0.32", "0.31"):
        make_funded(wanted_limit=Decimal(limit))
    workspaces.queue_funded(at=NOON)

    page = staff_client.post("/staff/prices/check/", {cell(offer): "0.31"})
    staff_client.post("/staff/prices/save/", {cell(offer): "0.31"})

    text = words(page)
    assert "1 rental keeps its price." in text
    assert "Waiting requests within reach: 0 → 2." in text
    running.refresh_from_db()
    assert running.hourly_price == Money("0.33", "USD")


def test_effects_count_a_limit_in_another_currency_at_its_frozen_rate(
    offer,
    make_funded,
    rates,
    renter,
):
    pay_in(renter, "100", currency="EUR")
    # 0.26 EUR at 1.25 dollars a euro are 0.325 dollars.
    make_funded(currency="EUR", wanted_limit=Decimal("0.26"))
    lines = [
        Line(number=n, offer_id=offer.pk, price=Money(price, "USD"))
        for n, price in enumerate(["0.325", "0.326"])
    ]

    effects = [effects_of(plan_prices([line], at=LATER)) for line in lines]

    assert effects[0].by_line[0] == Effect(rentals=0, reach_before=0, reach=1)
    assert effects[1].by_line[1] == Effect(rentals=0, reach_before=0, reach=0)


def test_a_price_that_is_scheduled_moves_no_ask_yet(offer):
    line = Line(
        number=1,
        offer_id=offer.pk,
        price=Money("0.30", "USD"),
        valid_from=LATER + timedelta(days=1),
    )

    effects = effects_of(plan_prices([line], at=LATER))

    assert (effects.asks, effects.best) == (0, [])


def test_a_stale_ask_becomes_the_best_one_when_it_is_priced_anew(catalog):
    offer = Offer.objects.get(
        supplier__slug="gpurento", gpu__slug="rtx-4090", region__slug="eu-west-paris"
    )
    line = Line(number=1, offer_id=offer.pk, price=Money("0.35", "USD"))

    [best] = effects_of(plan_prices([line], at=LATER)).best

    assert (best.gpu, best.region) == ("RTX 4090", "Paris")
    assert (best.before, best.after) == (None, Money("0.35", "USD"))


def test_one_click_goes_back_to_the_price_before(staff_client, offer):
    staff_client.post("/staff/prices/save/", {cell(offer): "0.30"})
    page = staff_client.get("/staff/prices/changes/")
    assert "Back to $0.33" in words(page)

    version = offer.prices.get(valid_to=None)
    answer = staff_client.post(f"/staff/prices/changes/{version.pk}/undo/", follow=True)

    assert "1 price is back at what it was before." in words(answer)
    assert price_now(offer, LATER + timedelta(seconds=1)) == Money("0.33", "USD")
    assert offer.prices.count() == 3


def test_everything_saved_together_goes_back_together(
    staff_client, staff, catalog, offer
):
    other = Offer.objects.get(supplier__slug="everxcloud", gpu__slug="h100-sxm")
    staff_client.post("/staff/prices/save/", {cell(offer): "0.30", cell(other): "2.5"})
    assert "Undo all 2 prices" in words(staff_client.get("/staff/prices/changes/"))

    save = {"created_at": LATER.isoformat(), "created_by": staff.pk}
    answer = staff_client.post("/staff/prices/changes/undo/", save, follow=True)
    again = staff_client.post("/staff/prices/changes/undo/", save, follow=True)

    assert "2 prices are back" in words(answer)
    assert "changed again since" in words(again)
    after = LATER + timedelta(seconds=1)
    assert price_now(offer, after) == Money("0.33", "USD")
    assert price_now(other, after) == Money("2.88", "USD")


@pytest.mark.parametrize(
    "data", [{}, {"created_at": "x"}, {"created_at": LATER, "created_by": "x"}]
)
def test_undoing_nothing_is_not_found(staff_client, data):
    assert staff_client.post("/staff/prices/changes/undo/", data).status_code == 404


@pytest.mark.parametrize(
    "path", ["check/", "save/", "files/", "changes/undo/", "changes/1/undo/"]
)
def test_only_staff_may_change_prices(client, renter_client, offer, path):
    data = {cell(offer): "0.30"}

    assert client.post(f"/staff/prices/{path}", data).status_code == 302
    assert renter_client.post(f"/staff/prices/{path}", data).status_code == 404
    assert offer.prices.count() == 1
    assert not PriceFile.objects.exists()


def test_an_unknown_version_is_not_found(staff_client):
    assert staff_client.post("/staff/prices/changes/1/undo/").status_code == 404


@pytest.mark.parametrize(
    "path",
    ["/staff/prices/", "/staff/prices/changes/", "/staff/prices/files/"],
)
def test_asks_as_many_queries_for_many_offers(staff_client, catalog, path):
    def queries():
        with CaptureQueriesContext(connection) as found:
            assert staff_client.get(path).status_code == 200
        return len(found)

    staff_client.get(path)
    before = queries()
    regions = list(Region.objects.all())
    for number in range(5):
        supplier = Supplier.objects.create(slug=f"s{number}", name=f"S{number}")
        for gpu in GpuModel.objects.all():
            for region in regions:
                offer = Offer.objects.create(
                    supplier=supplier,
                    gpu=gpu,
                    region=region,
                    nodes=1,
                    free_nodes=1,
                    listed_at=NOON,
                )
                OfferPrice.objects.create(
                    offer=offer,
                    hourly_price=Money("1.00", "USD"),
                    valid_from=NOON,
                    confirmed_at=NOON,
                    created_at=NOON,
                )

    assert queries() == before <= 15
