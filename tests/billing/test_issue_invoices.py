"""
Invoices and credit notes: one per payment, numbered without a gap.
"""

import random
import threading
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.db import DatabaseError, connection, transaction
from djmoney.money import Money

from billing import tasks
from billing.ledger import Busy
from billing.models import BillingProfile, Invoice, InvoiceSeries, Refund
from billing.services import invoices as services
from billing.services.invoices import credit_dispute, credit_refund, issue_due
from billing.services.invoices import issue_invoice as issue
from tests.billing import provider
from tests.billing.conftest import NOON, make_wallet

BUYER = {"is_business": True, "name": "Ma Société SARL", "address": "1 rue A, Paris"}


@pytest.fixture
def top_up(db):
    return provider.paid(make_wallet(currency="EUR"), country="FR", **BUYER)


def test_invoice_says_what_article_226_asks_for(top_up):
    invoice = issue(top_up_id=top_up.pk, at=NOON)

    assert invoice.code == "INV-2026-000001"
    assert invoice.issued_at == NOON
    assert invoice.supplied_on == NOON.date()
    assert invoice.seller_name == "Corehour Demo GmbH"
    assert invoice.seller_address == "Beispielstraße 1, 10115 Berlin, Germany"
    assert invoice.seller_vat_id
    assert invoice.buyer_name == "Ma Société SARL"
    assert invoice.buyer_address == "1 rue A, Paris"
    assert invoice.buyer_country == "FR"
    assert invoice.net == Money("100.00", "EUR")
    assert invoice.vat_rate == Decimal("20.00")
    assert invoice.vat == Money("20.00", "EUR")
    assert invoice.total == Money("120.00", "EUR")


def test_m43_second_issue_finds_the_first(top_up):
    first = issue(top_up_id=top_up.pk, at=NOON)

    assert issue(top_up_id=top_up.pk, at=NOON + timedelta(hours=2)) == first
    assert Invoice.objects.count() == 1
    assert issue_due(at=NOON) == 0


def test_issues_what_is_due_and_nothing_else(wallet):
    paid = provider.paid(wallet, "20.00")
    provider.pending(wallet, "30.00")
    gift = provider.pending(wallet, "10.00")
    provider.tell(
        "checkout.session.completed",
        provider.session(
            gift,
            amount_total=0,
            payment_intent=None,
            payment_status="no_payment_required",
            total_details={"amount_discount": 1000},
        ),
    )

    assert issue_due(at=NOON) == 1

    assert Invoice.objects.get().top_up == paid


def test_private_customer_without_a_name_is_named_by_address(wallet):
    top_up = provider.paid(wallet, "20.00")

    assert issue(top_up_id=top_up.pk, at=NOON).buyer_name == "renter@example.com"


def test_buyer_who_moves_later_changes_no_invoice(top_up):
    invoice = issue(top_up_id=top_up.pk, at=NOON)
    BillingProfile.objects.update(name="Other", address="Elsewhere", country="DE")

    invoice.refresh_from_db()
    assert (invoice.buyer_name, invoice.buyer_country) == ("Ma Société SARL", "FR")


@pytest.mark.parametrize("verb", ["update", "delete"])
def test_database_refuses_to_change_an_invoice(top_up, verb):
    issue(top_up_id=top_up.pk, at=NOON)
    sql = {
        "update": "UPDATE billing_invoice SET net = 1",
        "delete": "DELETE FROM billing_invoice",
    }

    with pytest.raises(DatabaseError), transaction.atomic():
        connection.cursor().execute(sql[verb])

    assert Invoice.objects.get().net == Money("100.00", "EUR")


def test_each_year_begins_at_one(wallet):
    first, second = provider.paid(wallet, "20.00"), provider.paid(wallet, "20.00")

    issue(top_up_id=first.pk, at=datetime(2026, 12, 31, 23, 59, tzinfo=UTC))
    issue(top_up_id=second.pk, at=datetime(2027, 1, 1, tzinfo=UTC))

    codes = [row.code for row in Invoice.objects.order_by("pk")]
    assert codes == ["INV-2026-000001", "INV-2027-000001"]
    assert str(InvoiceSeries.objects.first()) == "INV-2026"


def test_refund_gets_a_credit_note_that_names_the_invoice(top_up):
    issue_due(at=NOON)
    provider.tell("charge.refunded", provider.charge(top_up, refunded=4800))

    assert issue_due(at=NOON + timedelta(days=1)) == 1
    assert issue_due(at=NOON + timedelta(days=1)) == 0

    note = Invoice.objects.get(kind="CN")
    assert note.code == str(note) == "CN-2026-000001"
    assert note.corrects == Invoice.objects.get(kind="INV")
    assert (note.net, note.vat) == (Money("40.00", "EUR"), Money("8.00", "EUR"))
    assert note.buyer_name == "Ma Société SARL"
    again = credit_refund(refund_id=Refund.objects.get().pk, at=NOON)
    assert again == note


def test_credit_note_waits_for_its_invoice(top_up):
    provider.tell("charge.refunded", provider.charge(top_up, refunded=4800))

    assert issue_due(at=NOON) == 2

    kinds = [row.kind for row in Invoice.objects.order_by("pk")]
    assert kinds == ["INV", "CN"]


@pytest.mark.parametrize(("status", "notes"), [("lost", 1), ("won", 0)])
def test_lost_dispute_gets_a_credit_note(top_up, status, notes):
    issue_due(at=NOON)
    body = provider.dispute(top_up, minor=12000, fee=0, status=status)
    provider.tell("charge.dispute.closed", body)

    assert issue_due(at=NOON) == notes

    for note in Invoice.objects.filter(kind="CN"):
        assert note.total == Money("120.00", "EUR")
        assert credit_dispute(dispute_id=note.dispute_id, at=NOON) == note


def test_one_that_fails_stops_no_other(wallet, monkeypatch, caplog):
    first, second = provider.paid(wallet, "20.00"), provider.paid(wallet, "30.00")
    real = services.issue_invoice

    def fail(*, top_up_id, at):
        if top_up_id == first.pk:
            raise Busy
        return real(top_up_id=top_up_id, at=at)

    monkeypatch.setattr(services, "issue_invoice", fail)
    assert issue_due(at=NOON) == 1

    assert Invoice.objects.get().top_up == second
    assert "could not be issued" in caplog.text
    monkeypatch.undo()
    tasks.issue_invoices()
    assert Invoice.objects.count() == 2


@pytest.mark.django_db(transaction=True)
def test_fifty_at_once_with_failures_leave_no_gap(monkeypatch):
    wallet = make_wallet()
    top_ups = [provider.paid(wallet, "5.00").pk for _ in range(50)]
    fails = set(random.Random(7).sample(top_ups, 20))
    real = Invoice.objects.create
    seen = set()

    def create(**content):
        invoice = real(**content)
        # A number was taken and a row written: the transaction still fails, once.
        pk = content["top_up"].pk
        if pk in fails and pk not in seen:
            seen.add(pk)
            raise DatabaseError
        return invoice

    monkeypatch.setattr(Invoice.objects, "create", create)

    def work(top_up_id):
        for _ in range(200):
            try:
                issue(top_up_id=top_up_id, at=NOON)
            except (DatabaseError, Busy):
                continue
            break
        connection.close()

    threads = [threading.Thread(target=work, args=[pk]) for pk in top_ups]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    numbers = sorted(Invoice.objects.values_list("number", flat=True))
    assert len(seen) == 20
    assert numbers == list(range(1, 51))


@pytest.mark.django_db(transaction=True)
def test_m44_eight_workers_issue_one():
    top_up = provider.paid(make_wallet(), "5.00")
    codes = []

    def work():
        codes.append(issue(top_up_id=top_up.pk, at=NOON).code)
        connection.close()

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert codes == ["INV-2026-000001"] * 8
    assert Invoice.objects.count() == 1
