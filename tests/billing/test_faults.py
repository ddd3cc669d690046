"""
The rows of the fault matrix that one database shows: lost answers, no room for another
connection, a long report, a clock that jumps, no memory.
"""

import time
from datetime import timedelta
from decimal import Decimal

import psycopg
import pytest
from django.db import OperationalError, connection
from django.test import Client

from billing.failpoints import armed
from billing.models import Charge, Hold
from billing.services import bill_due, meter_of, place_hold, stop_meter, wallets_of
from tests.billing.conftest import NOON, usd
from tests.billing.spare import answers_lost, pointed_at

pytestmark = pytest.mark.django_db(transaction=True)


def after(**time_passed):
    return NOON + timedelta(**time_passed)


def set_aside(wallet):
    return place_hold(
        user_id=wallet.user_id, amount=usd(30), reference="w:1", key="w:1", at=NOON
    )


def test_fault_16_a_commit_whose_answer_is_lost_is_asked_for_again(wallet, pay_in):
    pay_in("100")

    with (
        answers_lost() as folder,
        pointed_at(folder),
        pytest.raises(OperationalError),
    ):
        set_aside(wallet)
    assert Hold.objects.count() == 1, "it was done, and nobody heard of it"
    again = set_aside(wallet)

    assert again.id == Hold.objects.get().pk
    (own,) = wallets_of(user_id=wallet.user_id)
    assert (own.available, own.held) == (usd(70), usd(30))


def superuser():
    settings = connection.settings_dict
    return psycopg.connect(
        host=settings["HOST"], user="postgres", dbname="postgres", autocommit=True
    )


def test_fault_18_without_a_free_connection_a_page_says_so_at_once():
    name = connection.settings_dict["NAME"]
    client = Client(raise_request_exception=False)
    assert client.get("/market/").status_code == 200
    connection.close()

    with superuser() as own:
        own.execute(f'ALTER DATABASE "{name}" CONNECTION LIMIT 0')
        began = time.monotonic()
        answers = [client.get(path) for path in ("/market/", "/healthz")]
        took = time.monotonic() - began
        own.execute(f'ALTER DATABASE "{name}" CONNECTION LIMIT -1')

    assert [(a.status_code, a["Retry-After"]) for a in answers] == [(503, "10")] * 2
    assert took < 2
    assert client.get("/market/").status_code == 200


def test_fault_21_a_long_report_stops_no_tick(run_meter):
    run_meter()
    settings = connection.settings_dict
    with psycopg.connect(
        host=settings["HOST"], user=settings["USER"], dbname=settings["NAME"]
    ) as report:
        report.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        question = "SELECT count(*) FROM billing_charge"
        (before,) = report.execute(question).fetchone()

        assert bill_due(at=after(hours=3)).charges == 3

        (still,) = report.execute(question).fetchone()
    assert (before, still) == (0, 0)


def test_fault_25_a_clock_that_jumps_bills_the_hours_between_and_none_twice(run_meter):
    meter = run_meter()
    assert bill_due(at=after(hours=3)).charges == 3

    back = bill_due(at=after(hours=1))
    forward = bill_due(at=after(hours=5))
    far = bill_due(at=after(days=900))

    assert (back.charges, forward.charges) == (0, 2)
    # The meter ends after 48 hours, however far the clock jumps.
    assert far.charges == 43
    assert meter_of(meter_id=meter.id).billed_amount == usd(48)
    assert not Charge.objects.filter(amount__lte=0).exists()


def test_fault_25_a_stop_before_what_is_billed_gives_nothing_negative(run_meter):
    meter = run_meter()
    bill_due(at=after(hours=3))

    stop_meter(meter_id=meter.id, at=after(hours=1))

    assert meter_of(meter_id=meter.id).billed_amount == usd(3)
    assert not Charge.objects.filter(amount__lte=0).exists()
    assert bill_due(at=after(hours=9)).charges == 0


def test_fault_35_a_tick_without_memory_is_late_and_not_wrong(run_meter, monkeypatch):
    """
    What the kernel kills for want of memory is in test_races.py: M36.
    """
    meter = run_meter()

    def no_memory():
        raise MemoryError

    monkeypatch.setitem(armed, "tick.before_commit", no_memory)
    with pytest.raises(MemoryError):
        bill_due(at=after(hours=3))
    assert not Charge.objects.exists()
    monkeypatch.delitem(armed, "tick.before_commit")

    assert bill_due(at=after(hours=4)).charges == 4
    assert meter_of(meter_id=meter.id).billed_amount.amount == Decimal(4)
