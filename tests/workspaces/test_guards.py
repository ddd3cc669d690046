"""
Limits, reconciliation and the mails that are sent once.
"""

import logging
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier

import pytest
from django.core.management import call_command
from django.db import connection
from django.urls import reverse
from post_office.models import Email

from billing import services as billing
from billing.services.tick import run_tick
from tests.conftest import logged_in
from tests.workspaces.conftest import (
    DAY,
    HOUR,
    MINUTE,
    NOON,
    hold_on,
    matched_at,
    started_at,
    usd,
    wallet_of,
)
from workspaces import services, tasks
from workspaces.models import Code, Discrepancy, State, Workspace
from workspaces.provisioner import Observation
from workspaces.provisioners import simulated
from workspaces.services import TooMuch
from workspaces.timeline import timeline

WEEK = timedelta(days=7)


# --- limits


def fund(quote):
    return services.fund_workspace(user=quote.user, quote_id=quote.pk, at=NOON)


def test_an_account_has_so_many_open_at_most(make_quote, settings):
    settings.OPEN_WORKSPACES_LIMIT = 2
    first, second, third = (make_quote(hours=1, kept_days=0) for _ in range(3))
    fund(first)
    fund(second)

    with pytest.raises(TooMuch, match="2 workspaces"):
        fund(third)
    assert Workspace.objects.count() == 2

    services.cancel_workspace(workspace_id=first.pk, actor=first.user, at=NOON)
    assert fund(third).state == State.FUNDED


def test_an_account_funds_so_many_a_day_at_most(make_quote, settings):
    settings.FUNDED_DAILY_LIMIT = 2
    for _number in range(2):
        quote = make_quote(hours=1, kept_days=0)
        fund(quote)
        services.cancel_workspace(workspace_id=quote.pk, actor=quote.user, at=NOON)

    with pytest.raises(TooMuch, match="within 24 hours"):
        fund(make_quote(hours=1, kept_days=0))

    late = make_quote(hours=1, kept_days=0, at=NOON + DAY)
    services.fund_workspace(user=late.user, quote_id=late.pk, at=NOON + DAY)


def test_what_is_funded_already_is_not_refused(make_quote, settings):
    quote = make_quote()
    fund(quote)
    settings.OPEN_WORKSPACES_LIMIT = 1

    assert fund(quote).pk == quote.pk


@pytest.mark.django_db(transaction=True)
def test_r57_the_limit_holds_under_parallel_requests(make_quote, settings):
    settings.OPEN_WORKSPACES_LIMIT = 3
    quotes = [make_quote(hours=1, kept_days=0) for _ in range(8)]
    barrier = Barrier(len(quotes))

    def click(quote):
        barrier.wait()
        try:
            return fund(quote).pk
        except TooMuch:
            return None
        finally:
            connection.close()

    with ThreadPoolExecutor(len(quotes)) as pool:
        funded = [pk for pk in pool.map(click, quotes) if pk]

    assert len(funded) == Workspace.objects.count() == 3
    # An hour at 0.33 and 0.02 of storage, three times.
    assert wallet_of(quotes[0].user).held == usd("1.05")


def test_the_limit_is_told_on_the_page(
    renter_client, make_quote, settings, time_machine
):
    time_machine.move_to(NOON, tick=False)
    settings.OPEN_WORKSPACES_LIMIT = 1
    first, second = make_quote(), make_quote()
    fund(first)

    response = renter_client.post(reverse("workspaces:fund", args=[second.pk]))

    assert response.status_code == 422
    assert "the most an account may have" in response.content.decode()


def test_automatic_extension_ends_after_90_days(running):
    services.switch_auto_extend(
        workspace_id=running.pk, is_on=True, actor=running.user, at=NOON
    )
    assert services.end_automatic_extension(at=NOON) == 0
    Workspace.objects.update(seconds_run=2120 * 3600)

    assert services.end_automatic_extension(at=NOON) == 1

    assert not billing.hold_of(hold_id=running.hold_id).is_extended_automatically
    assert services.end_automatic_extension(at=NOON) == 0


# --- reconciliation


def kinds():
    rows = Discrepancy.objects.filter(resolved_at=None)
    return sorted(rows.values_list("kind", flat=True))


@pytest.mark.parametrize("state", ["funded", "matched", "running", "stopped"])
def test_what_adds_up_is_not_listed(request, state):
    request.getfixturevalue(state)

    assert services.reconcile(at=NOON + 11 * HOUR) == []
    assert not Discrepancy.objects.exists()


def test_billed_but_not_running(stopped):
    Workspace.objects.update(storage_meter=None)

    findings = services.reconcile(at=NOON + 11 * HOUR)

    # The other way round it is missing, too: a stopped one charges storage.
    assert kinds() == ["BILLED_NOT_RUNNING", "RUNNING_NOT_BILLED"]
    assert {finding.workspace_id for finding in findings} == {stopped.pk}


def test_running_but_not_billed(running):
    billing.stop_meter(meter_id=running.compute_meter_id, at=NOON + HOUR)

    services.reconcile(at=NOON + 2 * HOUR)

    row = Discrepancy.objects.get()
    assert (row.kind, row.meter) == ("RUNNING_NOT_BILLED", "compute")


def test_r46_a_guard_that_failed_is_found(running, staff, time_machine):
    # It should have ended an hour ago, and no sweep has done it.
    billing.bill_due(at=NOON + 41 * HOUR)
    time_machine.move_to(NOON + 41 * HOUR, tick=False)

    # Staff read it also while nothing but the web runs.
    page = logged_in(staff).get("/staff/differences/")
    assert "1 workspace should have ended" in page.content.decode()
    services.reconcile(at=NOON + 41 * HOUR)

    assert kinds() == ["GUARD_FAILED"]
    services.end_due(at=NOON + 41 * HOUR)
    # Nothing was charged for the hour that it stood there too long.
    assert hold_on(running).captured == usd("14.21")
    services.reconcile(at=NOON + 42 * HOUR)
    assert kinds() == []


def test_the_minutes_between_tick_and_sweep_are_no_difference(running):
    billing.bill_due(at=NOON + 40 * HOUR)

    assert services.reconcile(at=NOON + 40 * HOUR + MINUTE) == []


def test_a_machine_that_is_down_is_found(running, monkeypatch):
    down = Observation(down_since=NOON + HOUR)
    monkeypatch.setattr(simulated, "observe", lambda workspace, *, at: down)

    services.reconcile(at=NOON + 2 * HOUR)

    assert Discrepancy.objects.get().kind == "MACHINE_DOWN"


def test_m47_a_stop_that_is_learned_of_later_counts_from_when_it_was(
    make_funded, offer
):
    # CASES M47 at this price: the control plane was away for 2 h, the machine stopped
    # after 30 min; 0.33 an hour is 0.17, and 200 GB are 0.01.
    running = started_at(matched_at(make_funded(kept_days=0), offer))

    services.stop_workspace(
        workspace_id=running.pk, actor=None, at=NOON + 30 * MINUTE, keep_data=False
    )
    run_tick(at=NOON + 2 * HOUR)

    assert hold_on(running).captured == usd("0.18")


def test_the_same_difference_is_one_row(running):
    billing.stop_meter(meter_id=running.compute_meter_id, at=NOON + HOUR)
    for hours in (2, 3):
        services.reconcile(at=NOON + hours * HOUR)

    row = Discrepancy.objects.get()
    assert (row.first_seen_at, row.last_seen_at) == (NOON + 2 * HOUR, NOON + 3 * HOUR)


def test_staff_close_a_difference_and_it_comes_back_if_it_is_there(
    running, staff_client, staff, time_machine
):
    time_machine.move_to(NOON + 2 * HOUR, tick=False)
    billing.stop_meter(meter_id=running.compute_meter_id, at=NOON + HOUR)
    services.reconcile(at=NOON + 2 * HOUR)
    row = Discrepancy.objects.get()
    listed = staff_client.get(reverse("workspaces:differences")).content.decode()
    assert "Running, but not billed" in listed

    page = reverse("workspaces:close_difference", args=[row.pk])
    assert staff_client.post(page, {"note": ""}).status_code == 422
    staff_client.post(page, {"note": "Looked at."})

    row.refresh_from_db()
    assert (row.resolved_by, row.note) == (staff, "Looked at.")
    services.reconcile(at=NOON + 3 * HOUR)
    assert Discrepancy.objects.filter(resolved_at=None).count() == 1


def test_task_and_command_tell_what_differs(running, time_machine, caplog, capsys):
    time_machine.move_to(NOON + 2 * HOUR, tick=False)
    billing.stop_meter(meter_id=running.compute_meter_id, at=NOON + HOUR)

    with caplog.at_level(logging.ERROR):
        tasks.reconcile()
    call_command("reconcile")

    assert "no compute meter runs" in caplog.text
    assert "1 differences." in capsys.readouterr().out


# --- mails


def mails():
    return list(Email.objects.order_by("pk").values_list("subject", flat=True))


def test_r60_the_page_says_when_the_data_are_deleted(stopped):
    (*_past, deleted) = timeline(stopped, events=[])

    assert deleted.title == "Data are deleted"
    assert deleted.at == stopped.stopped_at + 7 * DAY == stopped.kept_until


def test_r60_two_warnings_before_data_are_deleted(stopped):
    # Kept for seven days: three days and one day before.
    for hours in range(0, 7 * 24, 6):
        services.send_reminders(at=stopped.stopped_at + hours * HOUR)

    code = stopped.code
    assert mails() == [f"The data of workspace {code} will be deleted"] * 2
    text = Email.objects.first().message
    assert "December 7, 2026" in text
    assert stopped.get_absolute_url() in text


def test_a_day_of_keeping_is_warned_of_twice(make_funded, offer):
    running = started_at(matched_at(make_funded(kept_days=1), offer))
    stopped = services.stop_workspace(
        workspace_id=running.pk, actor=None, at=NOON + HOUR, keep_data=True
    )

    for minutes in range(0, 24 * 60, 30):
        services.send_reminders(at=stopped.stopped_at + minutes * MINUTE)

    assert len(mails()) == 2


def test_r2_a_mail_every_week_while_it_is_stopped(stopped):
    # CASES R2: 200 GB cost 17.75 in 30 days.
    services.extend_workspace(
        workspace_id=stopped.pk,
        by=20 * DAY,
        seen_end=stopped.kept_until,
        actor=stopped.user,
        at=NOON + 11 * HOUR,
    )
    for day in range(1, 23):
        services.send_reminders(at=stopped.stopped_at + day * DAY)

    about_storage = [subject for subject in mails() if "storage" in subject]
    assert len(about_storage) == 3
    assert "$17.75" in Email.objects.first().message


def test_an_end_is_warned_of(running):
    for hours in range(40):
        run_tick(at=NOON + hours * HOUR)
        services.send_reminders(at=NOON + hours * HOUR)

    assert mails() == [
        f"Workspace {running.code} ends within {text}"
        for text in ("24 hours", "6 hours", "1 hour")
    ]
    assert billing.unsent_warnings() == []


def test_an_interruption_is_told_once_with_its_reason(running):
    services.interrupt_workspace(
        workspace_id=running.pk,
        code=Code.POWER,
        reason="The hall is dark.",
        at=NOON + HOUR,
    )

    for _time in range(2):
        services.send_reminders(at=NOON + HOUR + MINUTE)

    mail = Email.objects.get()
    assert mail.subject == f"Workspace {running.code} was interrupted"
    assert "The power failed. The hall is dark." in " ".join(mail.message.split())


def test_an_idle_machine_is_asked_about_once(running, monkeypatch):
    idle = Observation(idle_since=NOON)
    monkeypatch.setattr(simulated, "observe", lambda workspace, *, at: idle)

    for hours in (1, 2, 3):
        services.send_reminders(at=NOON + hours * HOUR)

    mail = Email.objects.get()
    assert mail.subject == f"Nothing runs on workspace {running.code}"
    assert "$0.35" in mail.message


def test_task_and_command_send_them(stopped, time_machine, capsys):
    time_machine.move_to(stopped.kept_until - HOUR, tick=False)

    tasks.send_reminders()
    call_command("send_reminders")

    assert len(mails()) == 1
    assert capsys.readouterr().out == "0 mails.\n"
    assert stopped.kept_until - stopped.stopped_at == WEEK


def test_the_mail_is_in_the_language_of_its_reader(stopped):
    stopped.user.time_zone = "Europe/Madrid"
    stopped.user.save(update_fields=["time_zone"])

    services.send_reminders(at=stopped.kept_until - HOUR)

    # 22:00 in UTC is 23:00 in Madrid.
    assert "11:00" in Email.objects.get().message
