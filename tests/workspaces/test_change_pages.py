import pytest
from django.urls import reverse

from billing.services import hold_of
from catalog.services import set_price
from tests.workspaces.conftest import HOUR, MINUTE, NOON, hold_on, usd
from workspaces import services
from workspaces.models import Code, Draft, Quote, State, Workspace

END = NOON + 40 * HOUR


@pytest.fixture(autouse=True)
def at_noon(time_machine):
    time_machine.move_to(NOON, tick=False)


def page(name, workspace):
    return reverse(f"workspaces:{name}", args=[workspace.pk])


def text_of(response):
    return response.content.decode()


# --- extend


def test_the_cost_is_shown_before_it_is_held(renter_client, running):
    text = text_of(renter_client.get(page("extend", running), {"amount": "5"}))

    assert "Hold $1.77 and extend" in text
    assert hold_on(running).amount == usd("18.33")


def test_what_is_missing_is_said_before_it_is_asked_for(renter_client, running):
    text = text_of(renter_client.get(page("extend", running), {"amount": "400"}))

    # 400 h at 0.33 are 132.00, and their storage is 9.86; 81.67 are free.
    assert "$60.19 short" in text
    assert "and extend" not in text


def test_confirming_twice_extends_once(renter_client, running):
    sent = {"amount": "5", "seen_end": END.isoformat()}

    for _click in range(2):
        response = renter_client.post(page("extend_now", running), sent)
        assert response.status_code == 302

    assert Workspace.objects.get().compute_meter.ends_at == END + 5 * HOUR
    assert hold_on(running).amount == usd("20.10")


@pytest.mark.parametrize(
    ("sent", "says"),
    [
        ({"amount": "400", "seen_end": END.isoformat()}, "is free in your wallet"),
        ({"amount": "5", "seen_end": "later"}, "How much longer"),
        ({"amount": "0", "seen_end": END.isoformat()}, "greater than or equal to 1"),
    ],
)
def test_a_refusal_says_why(renter_client, running, sent, says):
    response = renter_client.post(page("extend_now", running), sent)

    assert response.status_code == 422
    assert says in text_of(response)
    assert Workspace.objects.get().compute_meter.ends_at == END


def test_kept_data_are_extended_by_days(renter_client, stopped):
    text = text_of(renter_client.get(page("extend", stopped), {"amount": "1"}))

    assert "Keep the data longer?" in text
    assert "Hold $0.59 and extend" in text


def test_the_switch_of_the_automatic_extension(renter_client, running):
    for is_on in (True, False):
        renter_client.post(
            page("auto_extend", running), {"is_on": "yes" if is_on else "no"}
        )
        hold = hold_of(hold_id=running.hold_id)
        assert hold.is_extended_automatically == is_on
        assert "runs on" in text_of(renter_client.get(page("detail", running)))


@pytest.mark.parametrize(
    "name", ["extend", "extend_now", "auto_extend", "resume", "give_up"]
)
def test_a_stranger_changes_nothing(stranger_client, running, name):
    for send in (stranger_client.get, stranger_client.post):
        assert send(page(name, running)).status_code in {404, 405}

    assert running.events.count() == 5


@pytest.mark.parametrize("name", ["extend", "resume"])
def test_what_waits_has_nothing_to_change(renter_client, funded, name):
    response = renter_client.get(page(name, funded))

    assert response.status_code == 302


# --- go on


def typed_resume(**changes):
    return {
        "gpu": "rtx-4090",
        "gpus": "1",
        "regions": ["eu-central-frankfurt"],
        "hours": "5",
        "kept_days": "2",
        "wanted_limit": "",
        **changes,
    }


def test_regions_are_named_in_the_language_of_the_reader(renter_client, stopped):
    text = text_of(renter_client.get(f"/es{page('resume', stopped)}"))

    assert "UE Central · Fráncfort" in text


def test_going_on_is_quoted_and_funded(renter_client, stopped):
    quoted = renter_client.post(page("resume", stopped), typed_resume())
    quote = Quote.objects.get(resumes=stopped)
    assert quoted.url == quote.get_absolute_url()
    assert "Hold $2.96 and fund" in text_of(renter_client.get(quoted.url))

    funded = renter_client.post(reverse("workspaces:fund", args=[quote.pk]))

    assert funded.url == stopped.get_absolute_url()
    assert Workspace.objects.get().is_resuming
    text = text_of(renter_client.get(funded.url))
    assert "It waits for a node to go on." in text
    assert "Asked to go on" in text


def test_a_gpu_that_cannot_fit_asks_twice(renter_client, stopped):
    sent = typed_resume(gpu="rtx-a4000", wanted_limit="1")
    Workspace.objects.update(sequence_length=131072)
    Quote.objects.update(sequence_length=131072, micro_batch=8)

    refused = renter_client.post(page("resume", stopped), sent)

    assert refused.status_code == 422
    assert "I know that the estimate says it does not fit" in text_of(refused)
    accepted = renter_client.post(
        page("resume", stopped), {**sent, "is_fit_risk_accepted": "on"}
    )
    assert accepted.status_code == 302


def test_more_days_than_the_plan_keeps_are_refused(renter_client, stopped):
    response = renter_client.post(page("resume", stopped), typed_resume(kept_days="31"))

    assert response.status_code == 422
    assert "keeps data for 30 days at most" in text_of(response)


def test_giving_up_to_go_on(renter_client, stopped):
    renter_client.post(page("resume", stopped), typed_resume())
    quote = Quote.objects.get(resumes=stopped)
    renter_client.post(reverse("workspaces:fund", args=[quote.pk]))

    response = renter_client.post(page("give_up", stopped), follow=True)

    assert "It no longer waits" in text_of(response)
    assert not Workspace.objects.get().is_resuming
    again = renter_client.post(page("give_up", stopped), follow=True)
    assert "cannot become" in text_of(again)


# --- interrupted


def test_r51_the_page_says_what_broke_and_what_comes(
    renter_client, running, time_machine
):
    time_machine.move_to(NOON + 2 * HOUR, tick=False)
    services.interrupt_workspace(
        workspace_id=running.pk,
        code=Code.POWER,
        reason="The hall lost power.",
        at=NOON + 90 * MINUTE,
    )

    text = text_of(renter_client.get(page("detail", running)))

    assert "Interrupted by the supplier" in text
    assert "The power failed. The hour that this broke is free." in text
    assert "The hall lost power." in text
    assert "Give up" in text
    stop = text_of(renter_client.get(page("stop", running)))
    assert "Give up waiting?" in stop
    renter_client.post(page("stop", running), {"keep_data": "yes"})
    assert Workspace.objects.get().state == State.STOPPED


def test_r51_the_quote_tells_how_often_it_breaks(renter_client, running, quote):
    services.interrupt_workspace(
        workspace_id=running.pk, code=Code.POWER, at=NOON + 90 * MINUTE
    )

    text = text_of(renter_client.get(quote.get_absolute_url()))

    assert "Suppliers interrupted 1 of 1 starts" in text


def test_r2_the_stop_page_shows_what_stopping_costs(renter_client, running):
    # CASES R2: 200 GB for an hour are 0.0247, for 30 days 17.75.
    text = text_of(renter_client.get(page("stop", running)))

    assert "$0.024658" in text
    assert "$17.75" in text
    assert "End and delete" in text


def test_r44_it_says_that_a_shutdown_inside_does_not_stop_the_bill(
    renter_client, running
):
    text = text_of(renter_client.get(page("stop", running)))

    assert "Shutting the machine down from inside does not stop the bill" in text


# --- quotes


def test_a_quote_has_a_clock(renter_client, quote):
    text = text_of(renter_client.get(quote.get_absolute_url()))

    assert 'data-clock="900"' in text
    assert "<time" in text


def test_a_second_quote_says_what_changed(
    renter_client, quote, offer, staff, time_machine
):
    set_price(
        offer_id=offer.pk,
        hourly_price=usd("0.36"),
        valid_from=NOON + MINUTE,
        actor=staff,
        at=NOON + MINUTE,
    )
    time_machine.move_to(NOON + MINUTE, tick=False)
    # 40 h at 0.36 are 14.40 instead of 13.20.
    response = renter_client.post(reverse("workspaces:again", args=[quote.pk]))

    text = text_of(renter_client.get(response.url))
    for words in ("What changed", "$13.20", "$14.40", "$0.33", "$0.36", "$18.33"):
        assert words in text
    assert Quote.objects.get(replaces=quote).hold_amount == usd("19.53")


def test_a_second_quote_says_that_nothing_changed(renter_client, quote):
    response = renter_client.post(reverse("workspaces:again", args=[quote.pk]))

    text = text_of(renter_client.get(response.url))
    assert "Nothing: it costs the same" in text


def test_a_changed_request_says_what_changed(renter_client, quote, typed):
    renter_client.post(
        f"{reverse('workspaces:request')}?quote={quote.pk}",
        typed | {"hours": "8", "regions": ["eu-central-frankfurt"]},
    )

    changed = Quote.objects.get(replaces=quote)
    text = text_of(renter_client.get(changed.get_absolute_url()))
    assert "What changed since the last quote" in text
    assert ">40<" in text
    assert ">EU Central · Frankfurt, EU West · Paris<" in text
    assert ">EU Central · Frankfurt<" in text


# --- drafts


DRAFTS = reverse("workspaces:save_draft")


def test_a_draft_keeps_what_was_typed_faults_and_all(renter_client, renter, typed):
    response = renter_client.post(DRAFTS, typed | {"revision": "main", "hours": "x"})

    draft = Draft.objects.get()
    assert response.url == draft.get_absolute_url()
    assert draft.user == renter
    text = text_of(renter_client.get(response.url))
    assert 'value="main"' in text
    assert 'value="x"' in text
    assert "Llama" in draft.name


def test_a_draft_is_saved_again_in_its_place(renter_client, renter, typed):
    renter_client.post(DRAFTS, typed)
    draft = Draft.objects.get()

    renter_client.post(f"{DRAFTS}?draft={draft.pk}", typed | {"hours": "9"})

    assert Draft.objects.get().typed["hours"] == ["9"]


def test_a_draft_becomes_a_quote_and_is_gone(renter_client, rich_renter, typed):
    renter_client.post(DRAFTS, typed)
    draft = Draft.objects.get()

    response = renter_client.post(draft.get_absolute_url(), typed)

    assert response.status_code == 302
    assert Quote.objects.count() == 1
    assert not Draft.objects.exists()


def test_drafts_are_listed_and_deleted(renter_client, renter, typed):
    renter_client.post(DRAFTS, typed)
    draft = Draft.objects.get()
    assert draft.name in text_of(renter_client.get(reverse("workspaces:list")))

    renter_client.post(reverse("workspaces:delete_draft", args=[draft.pk]))

    assert not Draft.objects.exists()


def test_a_draft_of_somebody_else_is_not_there(
    stranger_client, renter_client, renter, typed
):
    renter_client.post(DRAFTS, typed)
    draft = Draft.objects.get()

    assert stranger_client.get(draft.get_absolute_url()).status_code == 404
    delete = reverse("workspaces:delete_draft", args=[draft.pk])
    assert stranger_client.post(delete).status_code == 404
    stranger_client.post(f"{DRAFTS}?draft={draft.pk}", typed | {"hours": "9"})
    assert Draft.objects.get(pk=draft.pk).typed["hours"] == ["40"]


def test_an_account_has_50_drafts_at_most(renter_client, renter, typed):
    Draft.objects.bulk_create(
        Draft(user=renter, name="d", saved_at=NOON) for _ in range(50)
    )

    response = renter_client.post(DRAFTS, typed, follow=True)

    assert "You have 50 drafts" in text_of(response)
    assert Draft.objects.count() == 50


def test_an_earlier_request_is_a_template(renter_client, funded):
    text = text_of(renter_client.get(reverse("workspaces:request")))

    assert f"?quote={funded.quote_id}" in text
