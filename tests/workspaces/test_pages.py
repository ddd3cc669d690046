import pytest
from django.urls import reverse
from django.utils.html import escape

from billing.services import bill_due
from catalog.models import Listing, Offer
from tests.workspaces.conftest import (
    COMMIT,
    DAY,
    HOUR,
    MINUTE,
    NOON,
    matched_at,
    started_at,
    usd,
    wallet_of,
)
from workspaces.models import Quote, State, Workspace

REQUEST = reverse("workspaces:request")


@pytest.fixture(autouse=True)
def at_noon(time_machine):
    time_machine.move_to(NOON, tick=False)


@pytest.fixture
def pages(quote, running):
    return {
        "request": REQUEST,
        "quote": reverse("workspaces:quote", args=[quote.pk]),
        "fund": reverse("workspaces:fund", args=[quote.pk]),
        "again": reverse("workspaces:again", args=[quote.pk]),
        "list": reverse("workspaces:list"),
        "detail": reverse("workspaces:detail", args=[running.pk]),
        "cancel": reverse("workspaces:cancel", args=[running.pk]),
        "stop": reverse("workspaces:stop", args=[running.pk]),
        "delete": reverse("workspaces:delete", args=[running.pk]),
    }


OWNED = ["quote", "fund", "again", "detail", "cancel", "stop", "delete"]
POSTED = ["fund", "again", "cancel", "stop", "delete"]


def text_of(response):
    return response.content.decode()


@pytest.mark.parametrize("name", ["request", "list", *OWNED])
def test_sends_the_anonymous_to_the_log_in(client, pages, name):
    send = client.post if name in POSTED else client.get

    response = send(pages[name], {"keep_data": "no"})

    assert response.status_code == 302
    assert response.url.startswith(reverse("account_login"))
    assert Workspace.objects.get().state == State.RUNNING


@pytest.mark.parametrize("name", OWNED)
def test_hides_from_a_stranger_that_it_exists(stranger_client, pages, name):
    send = stranger_client.post if name in POSTED else stranger_client.get
    quotes = Quote.objects.count()

    response = send(pages[name], {"keep_data": "no"})

    assert response.status_code == 404
    assert Workspace.objects.get().state == State.RUNNING
    assert Quote.objects.count() == quotes


def test_does_not_fill_in_the_quote_of_somebody_else(stranger_client, quote):
    assert stranger_client.get(f"{REQUEST}?quote={quote.pk}").status_code == 404
    assert stranger_client.get(f"{REQUEST}?quote=nonsense").status_code == 404


@pytest.mark.parametrize("name", ["fund", "again"])
def test_does_nothing_on_get(renter_client, pages, name):
    assert renter_client.get(pages[name]).status_code == 405


@pytest.mark.parametrize("name", ["quote", "list", "detail"])
def test_only_shows(renter_client, pages, name):
    assert renter_client.post(pages[name]).status_code == 405


def test_looking_changes_nothing(renter_client, pages, running):
    for name in ("request", "quote", "list", "detail", "cancel", "stop", "delete"):
        assert renter_client.get(pages[name]).status_code in {200, 302}

    assert Workspace.objects.get().state == State.RUNNING
    assert running.events.count() == 5


def test_the_form_takes_over_the_planner(renter_client, catalog):
    page = text_of(
        renter_client.get(
            REQUEST, {"model": "meta-llama-3-1-8b", "gpu": "l40s", "hours": "120"}
        )
    )

    assert '<option value="meta-llama-3-1-8b" selected data-repository' in page
    assert '<option value="l40s" selected>' in page
    assert 'value="120"' in page


def test_a_request_becomes_a_quote(renter_client, rich_renter, typed):
    response = renter_client.post(REQUEST, typed)

    quote = Quote.objects.get()
    assert response.status_code == 302
    assert response.url == quote.get_absolute_url()
    assert quote.user == rich_renter
    assert quote.revision == COMMIT
    assert quote.hold_amount == usd("18.33")


def test_nothing_typed_is_lost(renter_client, renter, typed):
    typed |= {"revision": "main", "wanted_limit": "1.008", "dataset_note": "a < b & c"}

    response = renter_client.post(REQUEST, typed)

    page = text_of(response)
    assert response.status_code == 422
    assert 'value="main"' in page
    assert 'value="1.008"' in page
    assert escape("a < b & c") in page
    assert not Quote.objects.exists()


def test_without_an_offer_the_form_asks_for_a_limit(
    renter_client,
    renter,
    typed,
    offer,
):
    Offer.objects.filter(pk=offer.pk).update(free_nodes=0)

    response = renter_client.post(REQUEST, typed)

    assert response.status_code == 422
    assert "Write the most you would pay" in text_of(response)
    typed["wanted_limit"] = "0.33"
    assert renter_client.post(REQUEST, typed).status_code == 302


def test_the_list_is_useful_when_it_is_empty(renter_client):
    assert "No workspace yet" in text_of(renter_client.get(reverse("workspaces:list")))


def test_the_list_shows_what_burns(renter_client, running):
    page = text_of(renter_client.get(reverse("workspaces:list")))

    assert running.code in page
    assert "$0.35" in page
    assert "40" in page


def test_the_page_of_a_running_workspace(renter_client, running, time_machine):
    at = NOON + 8 * HOUR + 48 * MINUTE
    bill_due(at=at)
    time_machine.move_to(at, tick=False)

    page = text_of(renter_client.get(running.get_absolute_url()))

    # 8 h: 2.64 and 0.197; the sum of both meters, each rounded once.
    assert "$2.84" in page
    assert "$0.35" in page
    assert "31\u00a0h 12\u00a0min" in page
    assert "8\u00a0h 48\u00a0min of 40 h" in page
    assert "ssh -p 22022 root@10.0.0.7" in page
    assert "Ends by itself" in page


def test_the_lines_of_the_bill_add_up(renter_client, running, time_machine):
    at = NOON + 30 * HOUR
    bill_due(at=at)
    time_machine.move_to(at, tick=False)

    short = renter_client.get(running.get_absolute_url()).context["bill"]
    whole = renter_client.get(f"{running.get_absolute_url()}?all=1").context["bill"]

    assert (len(short.lines), short.earlier.count) == (24, 36)
    assert len(whole.lines) == 60
    assert whole.earlier is None
    for bill in (short, whole):
        rest = bill.earlier.amount if bill.earlier else usd(0)
        assert sum((line.amount for line in bill.lines), rest) == bill.total
    # 30 h: 9.90 and 0.7397.
    assert whole.total == usd("10.64")


@pytest.mark.parametrize(
    ("state", "burn"),
    [
        ("funded", "0"),
        ("matched", "0"),
        ("provisioning", "0"),
        ("running", "0.354658"),
        ("stopped", "0.024658"),
    ],
)
def test_r9_every_state_shows_what_it_burns(db, request, renter_client, state, burn):
    workspace = request.getfixturevalue(state)

    page = renter_client.get(workspace.get_absolute_url())

    assert round(page.context["workspace"].burn.amount, 6) == usd(burn).amount


def test_the_page_asks_the_database_the_same_few_questions(
    renter_client, running, django_assert_max_num_queries, time_machine
):
    bill_due(at=NOON + 39 * HOUR)
    time_machine.move_to(NOON + 39 * HOUR, tick=False)
    page = f"{running.get_absolute_url()}?all=1"
    # After so long the session is renewed, once.
    renter_client.get(page)

    with django_assert_max_num_queries(10):
        renter_client.get(page)


def test_the_quote_and_the_workspace_describe_the_node(renter_client, quote, running):
    Listing.objects.create(
        offer=running.offer,
        cpu_cores=16,
        ram_gb=64,
        disk_gb=500,
        network_gbps=10,
        currency="USD",
    )
    node = "16 cores, 64\u00a0GB RAM, 500\u00a0GB disk, 10 Gbit/s"

    priced = renter_client.get(reverse("workspaces:quote", args=[quote.pk]))
    assert f"Its node: {node}." in text_of(priced)
    assert node in text_of(renter_client.get(running.get_absolute_url()))


def test_the_list_asks_the_same_for_many(
    renter_client, make_funded, django_assert_max_num_queries
):
    for hours in range(1, 9):
        make_funded(hours=hours)

    with django_assert_max_num_queries(8):
        renter_client.get(reverse("workspaces:list"))


def test_cancelling_is_confirmed_first(renter_client, funded):
    url = reverse("workspaces:cancel", args=[funded.pk])

    assert "$18.33" in text_of(renter_client.get(url))
    response = renter_client.post(url)

    assert response.url == funded.get_absolute_url()
    assert Workspace.objects.get().state == State.CANCELLED
    assert wallet_of(funded.user).available == usd(100)


def test_cancelling_too_late_says_so(renter_client, running):
    url = reverse("workspaces:cancel", args=[running.pk])

    page = renter_client.post(url, follow=True)

    assert "cannot become" in text_of(page)
    assert Workspace.objects.get().state == State.RUNNING


def test_stopping_says_what_comes_back(renter_client, running, time_machine):
    time_machine.move_to(NOON + 10 * HOUR, tick=False)
    url = reverse("workspaces:stop", args=[running.pk])

    page = text_of(renter_client.get(url))

    # Spent 3.30 + 0.25; 18.33 less that is 14.78, less 4.14 of storage 10.64.
    for figure in ("$3.55", "$14.78", "$4.14", "$10.64", "$0.024658"):
        assert figure in page


@pytest.mark.parametrize(
    ("answer", "state", "available"),
    [("yes", State.STOPPED, "92.31"), ("no", State.ENDED, "96.45")],
)
def test_stopping_does_what_it_said(
    renter_client, running, time_machine, answer, state, available
):
    time_machine.move_to(NOON + 10 * HOUR, tick=False)

    renter_client.post(
        reverse("workspaces:stop", args=[running.pk]), {"keep_data": answer}
    )

    workspace = Workspace.objects.get()
    assert workspace.state == state
    assert workspace.events.order_by("pk").last().actor == running.user
    assert wallet_of(running.user).available == usd(available)


@pytest.mark.parametrize("data", [{}, {"keep_data": "perhaps"}])
def test_stopping_needs_an_answer(renter_client, running, data):
    url = reverse("workspaces:stop", args=[running.pk])

    assert renter_client.post(url, data).status_code == 422
    assert Workspace.objects.get().state == State.RUNNING


def test_deleting_is_confirmed_first(renter_client, stopped, time_machine):
    time_machine.move_to(NOON + 10 * HOUR + DAY, tick=False)
    url = reverse("workspaces:delete", args=[stopped.pk])

    assert "gone for good" in text_of(renter_client.get(url))
    renter_client.post(url)

    assert Workspace.objects.get().state == State.DELETED


@pytest.mark.parametrize("name", ["cancel", "stop", "delete"])
def test_a_question_that_makes_no_sense_leads_back(renter_client, stopped, name):
    response = renter_client.get(reverse(f"workspaces:{name}", args=[stopped.pk]))

    expected = 200 if name == "delete" else 302
    assert response.status_code == expected


def test_how_billing_works_is_public_and_worked_out(client, db):
    page = text_of(client.get(reverse("workspaces:how_billing_works")))

    # 40 x 0.33; 10.5 x 0.33 = 3.465; 18.33 - 3.47 - 0.26; and less 4.14.
    for figure in ("$13.20", "$18.33", "$3.47", "$0.26", "$14.60", "$10.46"):
        assert figure in page
    for state in State:
        assert str(state.label) in page


@pytest.mark.parametrize("language", ["es", "id"])
def test_the_pages_speak_the_language(renter_client, running, language):
    response = renter_client.get(f"/{language}{running.get_absolute_url()}")

    assert response.status_code == 200
    assert f'lang="{language}"' in text_of(response)


@pytest.mark.parametrize(
    ("name", "data"), [("stop", {"keep_data": "no"}), ("delete", {})]
)
def test_the_second_of_two_clicks_is_told_that_it_is_over(
    renter_client, stopped, name, data
):
    url = reverse(f"workspaces:{name}", args=[stopped.pk])
    renter_client.post(reverse("workspaces:delete", args=[stopped.pk]))
    available = wallet_of(stopped.user).available

    page = renter_client.post(url, data, follow=True)

    assert "cannot become" in text_of(page)
    assert wallet_of(stopped.user).available == available


def test_a_waiting_request_shows_its_deadline(renter_client, make_funded):
    funded = make_funded(start_deadline=NOON + DAY)

    page = text_of(renter_client.get(funded.get_absolute_url()))

    assert "Start deadline" in page
    assert "The most it can cost is held" in page


def test_without_kept_days_the_page_says_that_nothing_is_kept(
    renter_client, make_funded, offer
):
    running = started_at(matched_at(make_funded(kept_days=0), offer))

    page = text_of(renter_client.get(running.get_absolute_url()))
    question = text_of(renter_client.get(reverse("workspaces:stop", args=[running.pk])))

    assert "Nothing is kept." in page
    assert "Stop and keep the data" not in question
