"""
What people type stays text, and what they send beside a form stays unread.

Each test walks over all pages, so that a new page is attacked without being named.
"""

import time

import pytest
from django.apps import apps
from django.db import DatabaseError, models, transaction
from django.db.models import CharField, F, TextField, Value
from django.db.models.functions import Cast, Concat, Left
from django.test import Client

from billing.models import Wallet
from catalog.models import OfferPrice
from marketplace.models import User
from tests.pages.access import ACCESS

# It walks over what other tests count, and counting takes half its time.
pytestmark = pytest.mark.no_cover

OURS = {"marketplace", "workspaces", "billing", "catalog"}
RUNS = '"><svg onload=1>{{7*7}}'
WRITTEN_BY_PEOPLE = {
    "about", "address", "architecture", "buyer_address", "buyer_name", "city",
    "contact_name", "dataset_note", "description", "detail", "failure", "family",
    "holder", "label", "legal_name", "license", "name", "note", "number", "pause_reason",
    "phone", "reason", "registration_number", "reviewed_by", "source", "stop_reason",
    "summary", "title",
}  # fmt: skip
# What no form of the site has, beside what the forms of it do have.
SMUGGLED = {
    "is_staff": "on",
    "is_superuser": "on",
    "is_active": "",
    "groups": "1",
    "password": "taken over",
    "email": "evil@example.com",
    "balance": "1000000",
    "available": "1000000",
    "price": "0.01",
    "hourly_price": "0.01",
    "status": "PAID",
    "state": "RUNNING",
    "owner": "1",
    "user": "1",
    "user_id": "1",
    "organization": "1",
    "role": "owner",
    "created_at": "2020-01-01",
    "paid_at": "2020-01-01",
    "tax_rate": "0",
    "vat": "0",
    "net": "1000000",
    "vat_id_status": "VALID",
    "verified": "on",
    "frozen_at": "",
}


def our_models():
    return [model for model in apps.get_models() if model._meta.app_label in OURS]


def poison():
    """
    Write into every text that people write something that a browser would run.
    """
    written = set()
    for model in our_models():
        for field in model._meta.concrete_fields:
            is_text = isinstance(field, CharField | TextField) and not field.choices
            if not is_text or field.primary_key or field.name not in WRITTEN_BY_PEOPLE:
                continue
            # What is unique stays so: its key stands behind.
            text = Concat(Value(RUNS), Cast(F("pk"), TextField()))
            try:
                with transaction.atomic():
                    model._base_manager.update(
                        **{field.name: Left(text, field.max_length or 200)}
                    )
            except DatabaseError:
                continue  # A row of history: the database lets nobody change it.
            written.add(f"{model._meta.label}.{field.name}")
    return written


@pytest.mark.parametrize("who", ["renter", "staff"])
def test_no_page_runs_what_people_wrote(who, addresses, clients):
    written = poison()
    assert {"marketplace.User.name", "catalog.Supplier.name"} <= written
    seen = 0

    for name, path in addresses.items():
        # Staff only look at what the renter, who owns most of it, cannot see.
        is_shown = who == "renter" or ACCESS[name].renter != 200
        if not is_shown or getattr(ACCESS[name], who) != 200:
            continue
        answer = clients[who].get(path)
        if answer.headers["Content-Type"].startswith("text/html"):
            page = answer.content.decode()
            assert "<svg onload" not in page, name
            assert ">49" not in page, name
            seen += "svg onload" in page

    assert seen > 10


def guarded():
    """
    Return what only the site itself may write, as it is now.
    """
    people = User.objects.order_by("pk").values_list(
        "pk", "email", "password", "is_staff", "is_superuser", "is_active"
    )
    wallets = Wallet.objects.order_by("pk").values_list(
        "pk", "user", "frozen_at", F("available__balance") + F("held__balance")
    )
    prices = OfferPrice.objects.aggregate(
        models.Count("pk"), models.Sum("hourly_price")
    )
    return [*people, *wallets], prices


def rows_of_others(stranger):
    """
    Return every row that has an owner who is not the stranger.
    """
    return {
        model._meta.label: list(
            model._base_manager.exclude(user=stranger).order_by("pk").values()
        )
        for model in our_models()
        if any(field.name == "user" for field in model._meta.concrete_fields)
    }


def test_a_stranger_does_nothing_to_what_is_another_ones(
    addresses, stranger_client, stranger
):
    before, owned = guarded(), rows_of_others(stranger)
    typed = SMUGGLED | {"amount": "10", "hours": "8", "confirm": "yes", "reason": "x"}

    answers = {
        name: stranger_client.post(path, typed).status_code
        for name, path in addresses.items()
        if ACCESS[name].of and name != "catalog:stop_alert"
    }

    assert guarded() == before
    assert rows_of_others(stranger) == owned
    done = {name for name, status in answers.items() if status in {200, 201}}
    # It says that the link is used up.
    assert done == {"account_reset_password_from_key"}


def test_what_is_sent_beside_a_form_is_not_read(addresses, renter_client, renter):
    before = guarded()
    kept_out = {"account_logout", "account_change_password", "account_email"}

    for name, path in addresses.items():
        # What pays, or is asked for another address or password, does just that.
        if name not in kept_out and not name.startswith("billing:sandbox"):
            renter_client.post(path, SMUGGLED)
    own = {"name": "Ada", "language": "en", "currency": "EUR", "time_zone": "UTC"}
    renter_client.post(addresses["marketplace:profile"], SMUGGLED | own)

    assert guarded() == before
    renter.refresh_from_db()
    assert renter.name == "Ada"


def test_one_of_two_values_is_taken_and_it_is_the_last(renter_client):
    """
    Django takes the last of two values everywhere, so no check sees the other one.
    """
    page = "/wallet/top-up/"
    typed = (
        "amount=9999999&amount=50&currency=EUR&country=DE&is_business=&name=&address="
    )

    answer = renter_client.post(
        page, typed, content_type="application/x-www-form-urlencoded"
    )

    assert answer.status_code == 302
    shown = renter_client.get(answer.url).text
    assert "9999999" not in shown
    assert "50.00" in shown


@pytest.mark.parametrize(
    "path",
    [
        "/gpus/?sort=a.b",
        "/gpus/?_connector=OR 1=1",
        "/gpus/?page=" + "9" * 30,
        "/gpus/?gpu=\0",
        "/estimates/?page=-1&method=\0",
        "/planner/?model=\0&sequence_length=" + "9" * 400,
        "/market/?page=1&page=2",
        "/gpus/?" + "a[b]" * 500 + "=1",
    ],
)
@pytest.mark.django_db
def test_strange_questions_break_no_page(path):
    answer = Client().get(path)

    assert answer.status_code in {200, 302, 400, 404, 422}


@pytest.mark.parametrize("header", ["accept-language", "content-type", "cookie"])
@pytest.mark.django_db
def test_the_longest_header_that_the_server_takes_is_read_quickly(header):
    """
    gunicorn refuses lines of more than 8190 bytes; Django took seconds for a megabyte.
    """
    client = Client()
    client.get("/robots.txt")  # the first page of a process loads modules and texts
    began = time.process_time()

    answer = client.get("/robots.txt", headers={header: "a;q=0.1,-" * 900})

    assert answer.status_code in {200, 400}
    assert time.process_time() - began < 0.2
