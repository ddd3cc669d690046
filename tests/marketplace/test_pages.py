from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils.html import strip_tags
from djmoney.money import Money
from post_office import mail

from marketplace import services, standing
from marketplace.models import Launch
from tests.workspaces.conftest import NOON, matched_at, started_at

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _it_is_noon(monkeypatch):
    monkeypatch.setattr("clock.now", lambda: NOON)


def words(response):
    assert response.status_code == 200, response
    return " ".join(strip_tags(response.content.decode()).split())


def test_home_says_what_an_hour_costs_and_when_the_market_opens(client, catalog):
    Launch.objects.create(opens_at=NOON + timedelta(days=12, hours=5))

    page = words(client.get("/"))

    assert "RTX 4090" in page
    assert "from $0.33" in page
    assert "12 d 5 h" in page


def test_home_is_useful_without_a_catalog(client):
    assert "No offers yet" in words(client.get("/"))


def test_home_asks_the_planners_first_question(client, catalog):
    page = client.get("/").content.decode()

    assert 'action="/planner/"' in page
    assert 'name="model"' in page


def test_home_says_that_the_market_is_paused_and_why(client, catalog, staff):
    services.open_market(actor=staff, at=NOON)
    services.pause_market(actor=staff, reason="Paris is dark", at=NOON)

    page = words(client.get("/"))

    assert "The market is paused Paris is dark" in page


def test_dashboard_tells_a_newcomer_what_to_do(renter_client):
    page = words(renter_client.get("/dashboard/"))

    assert "Your wallet is empty" in page
    assert "Nothing runs yet" in page
    assert "$0.00" in page


def test_dashboard_shows_what_is_held_and_what_waits(renter_client, funded):
    page = words(renter_client.get("/dashboard/"))

    assert "$81.67" in page
    assert "$18.33" in page
    assert funded.code in page
    assert "Funded" in page


def test_standing_adds_up_what_burns_and_how_long_it_lasts(funded, offer, renter):
    started_at(matched_at(funded, offer))

    found = standing.standing_of(user=renter, at=NOON)

    dollars = found.wallets[0]
    # 0.33 for the GPU and 200 GB at 0.09 a month of 730 h; 81.67 are free:
    # 81.67 * 3600 s * 730 / (0.33 * 730 + 18) = 829,002.5 s.
    assert dollars.burn.amount.quantize(Decimal("0.000001")) == Decimal("0.354658")
    assert dollars.lasts == timedelta(seconds=829002)
    assert found.running == 1
    assert found.next_end == NOON + timedelta(hours=40)
    assert found.tasks == []


def test_standing_warns_before_the_paid_time_is_over(funded, offer, renter):
    started_at(matched_at(funded, offer))

    late = standing.standing_of(user=renter, at=NOON + timedelta(hours=17))

    [task] = late.tasks
    assert funded.code in task.title
    assert task.until == NOON + timedelta(hours=40)


def test_standing_reminds_of_a_quote_that_is_not_funded(quote, renter):
    [task] = standing.standing_of(user=renter, at=NOON).tasks

    assert task.url == quote.get_absolute_url()
    assert standing.standing_of(user=renter, at=quote.expires_at).tasks == []


def test_dashboard_shows_nothing_of_a_stranger(stranger_client, funded):
    page = words(stranger_client.get("/dashboard/"))

    assert funded.code not in page
    assert "81.67" not in page


def test_dashboard_asks_as_often_for_many_workspaces_as_for_one(
    renter_client, make_funded, django_assert_max_num_queries
):
    for _ in range(5):
        make_funded()

    with django_assert_max_num_queries(10):
        renter_client.get("/dashboard/")


def test_market_shows_asks_and_demand_without_names(client, funded, renter):
    page = words(client.get("/market/"))
    one = words(client.get("/market/rtx-4090/"))

    assert "RTX 4090" in page
    assert "1 funded request waits for this GPU" in one
    assert "$0.33" in one
    assert "Frankfurt" in one
    assert renter.email not in page + one
    assert funded.code not in page + one


def test_market_shows_the_last_matches(client, funded, offer, open_market):
    open_market()

    assert "0 funded requests wait" in words(client.get("/market/rtx-4090/"))
    assert "No request for this GPU has been matched" not in words(
        client.get("/market/rtx-4090/")
    )


def test_market_knows_no_gpu_that_is_not_there(client, catalog):
    assert client.get("/market/abacus/").status_code == 404


def test_market_asks_as_often_for_all_gpus_as_for_one(
    client, catalog, django_assert_max_num_queries
):
    with django_assert_max_num_queries(8):
        client.get("/market/")


def test_profile_changes_language_currency_and_zone(renter_client, renter):
    answer = renter_client.post(
        "/profile/",
        {
            "name": "Rosa",
            "language": "es",
            "currency": "EUR",
            "time_zone": "Asia/Jakarta",
            "is_staff": "on",
            "email": "other@example.com",
        },
    )

    assert answer.url == "/es/profile/"
    renter.refresh_from_db()
    assert (renter.name, renter.language) == ("Rosa", "es")
    assert (renter.currency, renter.time_zone) == ("EUR", "Asia/Jakarta")
    assert not renter.is_staff
    assert renter.email == "renter@example.com"


@pytest.mark.parametrize(
    "changes", [{"time_zone": "Moon/Crater"}, {"language": "tlh"}, {"currency": "XAU"}]
)
def test_profile_refuses_what_it_does_not_know(renter_client, renter, changes):
    form = {"language": "en", "currency": "USD", "time_zone": "UTC"}

    answer = renter_client.post("/profile/", form | changes)

    assert answer.status_code == 422
    renter.refresh_from_db()
    assert (renter.language, renter.currency, renter.time_zone) == ("en", "USD", "UTC")


def test_pages_show_times_in_the_readers_zone(renter_client, renter, catalog):
    Launch.objects.create(opens_at=NOON)
    renter.time_zone = "Asia/Jakarta"
    renter.save()
    services.plan_opening(actor=renter, opens_at=NOON + timedelta(hours=1), at=NOON)

    page = renter_client.get("/").content.decode()

    assert 'datetime="2026-11-30T13:00:00Z"' in page
    assert "November 30, 2026 at 8:00 PM" in page


def test_the_header_shows_the_wallet_of_the_persons_currency(
    renter_client, rich_renter
):
    assert "Wallet $100.00" in words(renter_client.get("/market/"))

    rich_renter.currency = "GBP"
    rich_renter.save()

    assert "Wallet £0.00" in words(renter_client.get("/market/"))


def test_every_page_is_offered_in_every_language(client, catalog):
    page = client.get("/es/market/?a=1").content.decode()

    assert 'href="/market/?a=1"' in page
    assert 'href="/id/market/?a=1"' in page
    assert '<html lang="es">' in page


def test_mailbox_shows_mails_newest_first_with_links(client):
    for number in (1, 2):
        mail.send(
            "a@example.com",
            "from@example.com",
            subject=f"Mail {number}",
            message="Open http://127.0.0.1/x/ <script>alert(1)</script>",
            html_message='<html lang="es">' * (number - 1),
        )

    page = client.get("/mailbox/").content.decode()

    assert page.index("Mail 2") < page.index("Mail 1")
    assert '<h2 lang="es">Mail 2' in page
    assert "<h2>Mail 1" in page
    assert 'href="http://127.0.0.1/x/"' in page
    assert "<script>alert" not in page


def test_mailbox_and_clock_exist_in_the_demo_alone(client, staff_client, settings):
    settings.DEMO = False

    assert client.get("/mailbox/").status_code == 404
    settings.MIDDLEWARE = [
        name for name in settings.MIDDLEWARE if "SecondFactor" not in name
    ]
    assert staff_client.get("/staff/clock/").status_code == 404
    assert staff_client.post("/staff/clock/", {"hours": "1"}).status_code == 404


def test_a_match_in_dollars_shows_on_the_dashboard_of_its_owner(
    renter_client, funded, offer, open_market
):
    open_market()

    page = words(renter_client.get("/dashboard/"))

    assert "Matched" in page
    assert Money("0.33", "USD") == funded.matches.get().hourly_price
