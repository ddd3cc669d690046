from datetime import timedelta

import pytest
import time_machine

from billing.models import BankAccount, MeterFault, Payout
from billing.services import load_shipped_rates, stop_meter
from billing.services.payouts import run_payouts
from tests.billing.conftest import NOON, SUPPLIER, balance_of, usd
from tests.billing.test_payouts import MONDAY, move

PAGE = "/staff/payouts/"
FILE = "/staff/payouts/USD/2026-06-08.csv"


@pytest.fixture(autouse=True)
def on_monday(settings, db):
    settings.DEMO_CLOCK_FILE = None
    with time_machine.travel(MONDAY, tick=False):
        yield


@pytest.fixture
def earned():
    BankAccount.objects.create(
        party=SUPPLIER,
        currency="USD",
        holder="=EverXCloud",
        number="DE75",
        bank_code="",
    )
    move(80, MONDAY - timedelta(days=8), "earned")


@pytest.fixture
def payout(earned):
    return run_payouts(at=MONDAY)[0]


def test_shows_what_suppliers_have(staff_client, earned):
    page = staff_client.get(PAGE).content.decode()

    assert "=EverXCloud" in page
    assert SUPPLIER not in page
    assert "$80.00" in page
    assert "None yet." in page


def test_empty_page_says_so(staff_client):
    page = staff_client.get(PAGE).content.decode()

    assert "No supplier has earned anything" in page


def test_missing_bank_account_is_said(staff_client):
    move(80, MONDAY - timedelta(days=8), "earned")

    page = staff_client.get(PAGE).content.decode()

    assert "Missing: add it" in page
    assert '">everxcloud</th>' in page
    assert "?party=supplier%3Aeverxcloud&amp;currency=USD" in page


def test_run_pays_out_once(staff_client, earned):
    for _ in range(2):
        answer = staff_client.post(f"{PAGE}run/", follow=True)

    assert answer.status_code == 200
    assert Payout.objects.get().amount == usd(80)
    assert "In the bank" in answer.content.decode()


def test_bank_file_runs_no_formula(staff_client, payout):
    answer = staff_client.get(FILE)

    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    assert answer["Content-Disposition"] == (
        'attachment; filename="payouts-USD-2026-06-08.csv"'
    )
    assert b"".join(answer.streaming_content).decode() == (
        "Holder,Account,Bank code,Amount,Currency,Text\r\n"
        f'\'=EverXCloud,DE75,,80.00,USD,"Payout {payout.pk}, week of 2026-06-08"\r\n'
    )


@pytest.mark.parametrize("path", ["JPY/2026-06-08", "USD/2026-06-31", "USD/monday"])
def test_no_other_bank_files_exist(staff_client, path):
    assert staff_client.get(f"{PAGE}{path}.csv").status_code == 404


def test_paid_is_noted(staff_client, payout):
    staff_client.post(f"{PAGE}{payout.pk}/paid/")

    payout.refresh_from_db()
    assert (payout.status, payout.paid_at) == ("PAID", MONDAY)


def test_m68b_returned_is_noted_with_its_reason(staff_client, payout):
    page = staff_client.get(f"{PAGE}{payout.pk}/return/")
    assert "$80.00" in page.content.decode()

    answer = staff_client.post(f"{PAGE}{payout.pk}/return/", {"reason": "Closed"})

    assert answer.status_code == 302
    assert balance_of("PAYABLE", SUPPLIER) == 80
    assert "Returned: Closed" in staff_client.get(PAGE).content.decode()
    assert staff_client.get(f"{PAGE}{payout.pk}/return/").status_code == 404


def test_return_needs_a_reason(staff_client, payout):
    answer = staff_client.post(f"{PAGE}{payout.pk}/return/", {"reason": " "})

    assert answer.status_code == 422
    payout.refresh_from_db()
    assert payout.status == "PENDING"


def test_returned_payout_cannot_be_marked_as_paid(staff_client, payout):
    staff_client.post(f"{PAGE}{payout.pk}/return/", {"reason": "Closed"})

    answer = staff_client.post(f"{PAGE}{payout.pk}/paid/", follow=True)

    assert "back already" in answer.content.decode()
    assert Payout.objects.get().status == "RETURNED"


def test_unknown_payout_is_not_found(staff_client):
    assert staff_client.post(f"{PAGE}1/paid/").status_code == 404
    assert staff_client.post(f"{PAGE}1/return/", {"reason": "x"}).status_code == 404


REQUESTS = [
    ("get", PAGE),
    ("post", f"{PAGE}run/"),
    ("get", FILE),
    ("post", f"{PAGE}1/paid/"),
    ("get", f"{PAGE}1/return/"),
    ("post", f"{PAGE}1/return/"),
]


@pytest.mark.parametrize(("method", "path"), REQUESTS)
def test_others_see_nothing_and_change_nothing(
    client, renter_client, earned, method, path
):
    assert getattr(renter_client, method)(path).status_code == 404
    assert getattr(client, method)(path).status_code == 302

    assert not Payout.objects.exists()


@pytest.mark.parametrize(("method", "path"), [("post", PAGE), ("get", f"{PAGE}run/")])
def test_wrong_methods_are_refused(staff_client, method, path):
    assert getattr(staff_client, method)(path).status_code == 405


# --- the books page


def test_books_show_rates_with_source_day_and_age(staff_client):
    load_shipped_rates()

    page = staff_client.get("/staff/books/").content.decode()

    assert "Source: ECB, December 31, 2024" in page
    assert "0.82918" in page


def test_books_say_that_no_rates_are_loaded(staff_client):
    page = staff_client.get("/staff/books/").content.decode()

    assert "None are loaded" in page


def test_books_show_meters_that_need_a_person(staff_client, run_meter):
    stop_meter(meter_id=run_meter(name="compute").id, at=NOON - timedelta(seconds=3))

    page = staff_client.get("/staff/books/").content.decode()

    assert MeterFault.objects.get().detail in page
    assert "workspace:1" in page
