import logging
from datetime import timedelta
from io import StringIO

import pytest
import time_machine
from django.core.management import call_command

from billing import failpoints, tasks
from billing.models import BankAccount, Charge, Hold, Payout
from billing.services import hold_of, place_hold
from tests.billing.conftest import NOON, SUPPLIER, usd
from tests.billing.test_payouts import move


@pytest.fixture
def three_hours_later(settings):
    settings.DEMO_CLOCK_FILE = None
    with time_machine.travel(NOON + timedelta(hours=3), tick=False):
        yield


def test_bill_due_says_what_it_billed(run_meter, three_hours_later):
    run_meter(rate=usd("0.34"))
    out = StringIO()

    call_command("bill_due", stdout=out)
    call_command("bill_due", stdout=out)

    assert out.getvalue() == "3 charges, 1.02 USD\n0 charges\n"


def test_bill_due_names_meters_that_it_could_not_bill(
    hold, run_meter, three_hours_later, broken_books
):
    meter = run_meter()
    Hold.objects.filter(pk=hold.id).update(captured=hold.amount.amount)
    out, err = StringIO(), StringIO()

    call_command("bill_due", stdout=out, stderr=err)

    assert err.getvalue() == f"Meter {meter.id}: The hold is too small.\n"
    assert out.getvalue() == "0 charges\n"


def test_task_bills_and_gives_unused_holds_back(
    wallet, pay_in, run_meter, three_hours_later
):
    run_meter()
    pay_in("5")
    unused = place_hold(
        user_id=wallet.user_id,
        amount=usd(5),
        reference="w:2",
        key="w:2",
        at=NOON,
        expires_at=NOON + timedelta(minutes=15),
    )

    for _ in range(2):
        tasks.bill_due()

    assert Charge.objects.count() == 3
    assert hold_of(hold_id=unused.id).status == "EXPIRED"


@pytest.mark.parametrize(
    "run", [tasks.run_payouts, lambda: call_command("run_payouts", stdout=StringIO())]
)
def test_payouts_are_made_by_task_and_command(three_hours_later, run, db):
    BankAccount.objects.create(party=SUPPLIER, currency="USD", holder="x", number="y")
    move(80, NOON - timedelta(days=8), "earned")

    for _ in range(2):
        run()

    assert Payout.objects.get().amount == usd(80)


def test_run_payouts_says_whom_it_paid(three_hours_later, db):
    BankAccount.objects.create(party=SUPPLIER, currency="USD", holder="x", number="y")
    move(80, NOON - timedelta(days=8), "earned")
    out = StringIO()

    call_command("run_payouts", stdout=out)

    assert out.getvalue() == f"{Payout.objects.get().pk}: 80.00 USD x\n"


def test_task_tells_the_log_of_broken_books(run_meter, broken_books, caplog):
    meter = run_meter()
    Hold.objects.update(captured=1)

    with caplog.at_level(logging.CRITICAL):
        tasks.check_books()

    assert f"hold is what was transferred for it: {meter.hold_id}" in caplog.text


def test_task_is_silent_about_right_books(run_meter, caplog):
    run_meter()

    with caplog.at_level(logging.CRITICAL):
        tasks.check_books()

    assert caplog.text == ""


def test_failpoints_do_nothing_unless_armed(monkeypatch):
    calls = []
    failpoints.failpoint("nowhere")

    monkeypatch.setitem(failpoints.armed, "here", lambda: calls.append(1))
    failpoints.failpoint("here")

    assert calls == [1]


def test_failpoint_can_kill_its_process(monkeypatch):
    killed = []
    monkeypatch.setattr(failpoints.os, "kill", lambda *target: killed.append(target))

    failpoints.kill()

    assert killed == [(failpoints.os.getpid(), failpoints.signal.SIGKILL)]
