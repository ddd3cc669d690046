"""
What the pages of suppliers, and of staff about them, refuse and deny.

Nordlicht asks 0.32 for three RTX 4090 in Paris; its owner is logged in.
"""

from decimal import Decimal

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from djmoney.money import Money

from billing.models import BankAccount
from catalog.models import Listing, NodeFile, Offer
from marketplace.demo_supplier import company_data
from marketplace.models import Company, SupplierMember
from marketplace.suppliers import companies, people
from tests.conftest import PASSWORD, logged_in
from tests.marketplace.supplier_fixtures import apply, list_nodes, typed_nodes
from tests.workspaces.conftest import DAY, NOON

pytestmark = pytest.mark.django_db

IBAN = "DE89370400440532013000"


@pytest.fixture(autouse=True)
def _at_noon(monkeypatch):
    monkeypatch.setattr("clock.now", lambda: NOON)


@pytest.fixture
def proven(owner_client):
    # In the demo, as in tests, the password is the only proof.
    owner_client.post("/account/reauthenticate/", {"password": PASSWORD})
    return owner_client


def page(name, **kwargs):
    return reverse(f"marketplace:{name}", kwargs=kwargs)


def typed_company(**changes):
    data = company_data("Fjordkraft")
    return {"name": data.name, **data.columns(), **changes}


def said(answer):
    return [str(message) for message in answer.wsgi_request._messages]


# --- the application


def test_whoever_is_not_logged_in_reads_and_sends_nothing(client):
    answer = client.post(page("supplier_apply"), typed_company())

    assert answer.status_code == 200
    assert not answer.context["form"].is_bound
    assert not Company.objects.exists()


def test_an_application_is_sent_once(owner_client, owner):
    answer = owner_client.post(page("supplier_apply"), typed_company())
    again = owner_client.post(page("supplier_apply"), typed_company(name="Another"))

    assert (answer.url, again.url) == (page("supplier"), page("supplier"))
    # The second one changes the first, which is still being checked.
    company = Company.objects.get()
    assert (company.supplier.name, company.state) == ("Another", "APPLIED")
    assert people.member_of(owner).is_owner


@pytest.mark.parametrize("has_applied", [False, True])
def test_a_name_that_is_taken_is_refused(request, rival, owner_client, has_applied):
    if has_applied:
        request.getfixturevalue("company")
    before = list(Company.objects.values_list("supplier__name", flat=True))

    answer = owner_client.post(page("supplier_apply"), typed_company(name="RIVAL"))

    assert answer.status_code == 422
    assert "Another supplier has this name" in str(answer.context["form"].errors)
    assert list(Company.objects.values_list("supplier__name", flat=True)) == before


def test_verified_data_are_not_changed_by_the_page(verified, owner_client):
    answer = owner_client.post(page("supplier_apply"), typed_company())

    assert answer.url == page("supplier")
    assert Company.objects.get().supplier.name == "Nordlicht"


# --- people


@pytest.fixture
def invited(company, owner, stranger):
    people.invite_person(
        supplier_id=company.pk,
        email=stranger.email,
        role="OPERATOR",
        actor=owner,
        at=NOON,
    )
    return SupplierMember.objects.get(email=stranger.email)


def test_an_invitation_is_taken_by_whom_it_is_for(
    invited, stranger_client, renter_client
):
    join = page("supplier_join", member_id=invited.pk)

    assert renter_client.get(page("supplier")).url == page("supplier_apply")
    assert renter_client.post(join).status_code == 404
    assert "Nordlicht" in stranger_client.get(page("supplier")).content.decode()
    assert stranger_client.post(join).url == page("supplier")
    again = stranger_client.post(join)

    assert "You act for a supplier already." in said(again)
    assert SupplierMember.objects.filter(user__isnull=False).count() == 2


def test_people_are_invited_once_and_the_last_owner_stays(
    invited, proven, company, rival
):
    own, foreign = company.supplier.members.first(), rival.supplier.members.get()

    typed = {"email": invited.email.upper(), "role": "OWNER"}
    twice = proven.post(page("supplier_people"), typed)
    nobody = proven.post(page("supplier_people"), {"email": "x", "role": "OWNER"})
    last = proven.post(page("supplier_remove_person", member_id=own.pk))
    other = proven.post(page("supplier_remove_person", member_id=foreign.pk))

    assert "This person was invited before." in said(twice)
    assert nobody.status_code == 422
    assert "The last owner stays: invite another one first." in said(last)
    assert other.status_code == 404
    assert SupplierMember.objects.count() == 3
    assert SupplierMember.objects.get(pk=invited.pk).role == "OPERATOR"


def test_nobody_is_removed_in_a_session_that_is_not_proven(invited, owner_client):
    remove = page("supplier_remove_person", member_id=invited.pk)

    assert "authenticate" in owner_client.post(remove).url
    assert SupplierMember.objects.filter(pk=invited.pk).exists()


# --- money


def test_a_bank_account_is_kept_when_its_number_can_be(company, proven):
    typed = {"currency": "EUR", "holder": "Nordlicht GmbH", "bank_code": ""}

    slip = proven.post(page("supplier_bank"), {**typed, "number": IBAN[:-1] + "1"})
    assert slip.status_code == 422
    assert not BankAccount.objects.exists()

    assert proven.post(page("supplier_bank"), {**typed, "number": IBAN}).url
    assert BankAccount.objects.get().number == IBAN
    assert IBAN not in proven.get(page("supplier_bank")).content.decode()


@pytest.mark.parametrize(
    "query", ["month=2026-13", "month=1999-01", "month=x", "currency=PLN"]
)
def test_no_statement_of_what_is_no_month_and_no_currency(company, owner_client, query):
    for name in ("supplier_earnings", "supplier_statement_csv"):
        assert owner_client.get(f"{page(name)}?{query}").status_code == 404


def test_a_statement_without_lines_has_its_head(company, owner_client):
    answer = owner_client.get(f"{page('supplier_statement_csv')}?month=2026-11")

    assert answer.getvalue() == b"Day,What,Rental,Amount,Balance,Currency\r\n"
    assert "earnings-USD-2026-11.csv" in answer["Content-Disposition"]


# --- nodes


def test_nodes_that_are_listed_already_are_refused(listed, owner_client):
    answer = owner_client.post(page("supplier_add"), typed_nodes(confirmed="yes"))

    assert answer.status_code == 422
    assert answer.context["form"].non_field_errors()
    assert Listing.objects.count() == 1
    assert listed.hourly_price(NOON) == Money("0.32", "USD")


def test_a_change_below_the_floor_is_refused(catalog, verified, owner_client):
    offer = list_nodes(verified, floor=Decimal("0.30"))
    address = page("supplier_change", offer_id=offer.pk)

    low = owner_client.post(address, typed_nodes(ask="0.29", floor="0.30"))
    fine = owner_client.post(address, typed_nodes(ask="0.30", floor="0.30", nodes="2"))

    assert low.status_code == 422
    assert "ask" in low.context["form"].errors
    assert fine.url == page("supplier_nodes")
    offer.refresh_from_db()
    assert (offer.nodes, offer.hourly_price(NOON)) == (2, Money("0.30", "USD"))


def test_nodes_are_paused_and_removed_by_a_post_alone(listed, owner_client):
    remove = page("supplier_remove", offer_id=listed.pk)
    pause = page("supplier_pause", offer_id=listed.pk)

    assert owner_client.get(pause).status_code == 405
    assert owner_client.get(remove).status_code == 200
    assert Offer.objects.get(pk=listed.pk).is_listed

    owner_client.post(pause)
    assert Listing.objects.get().paused_at == NOON
    owner_client.post(remove)
    assert Listing.objects.get().removed_at == NOON
    for gone in (remove, pause, page("supplier_change", offer_id=listed.pk)):
        assert owner_client.post(gone).status_code == 404


def test_asks_are_confirmed_as_of_now(listed, owner_client):
    assert listed.prices.get().confirmed_at == NOON - DAY

    owner_client.post(page("supplier_confirm"))

    assert listed.prices.get().confirmed_at == NOON


def test_a_file_that_is_none_is_not_kept(verified, owner_client):
    file = SimpleUploadedFile("n.csv", "näht".encode("latin-1"))

    assert owner_client.post(page("supplier_files")).status_code == 200
    assert owner_client.post(page("supplier_files"), {"file": file}).status_code == 422
    assert not NodeFile.objects.exists()


def test_demand_of_too_few_is_a_head_alone(catalog, company, owner_client):
    lines = owner_client.get(page("supplier_demand_csv")).getvalue().splitlines()

    assert lines == [
        b"Cut,Key,Group,Requests,GPU-hours,Unmet GPU-hours,At the limits,Currency"
    ]


# --- staff


def test_staff_see_who_waits_and_who_is_decided(company, rival, staff_client):
    context = staff_client.get(page("staff_suppliers")).context

    assert ([*context["waiting"]], [*context["decided"]]) == ([company], [rival])


def test_staff_pass_checks_and_take_them_back(company, staff_client):
    check = page("staff_supplier_check", slug="nordlicht")

    staff_client.post(check, {"check": "TAX", "is_passed": "on", "note": "VIES"})
    staff_client.post(check, {"check": "SMELL", "is_passed": "on"})
    company.refresh_from_db()
    assert company.passed_checks == ["TAX"]
    assert company.events.latest("pk").detail == "Its tax number is valid: VIES"

    refused = staff_client.post(page("staff_supplier_verify", slug="nordlicht"))
    staff_client.post(check, {"check": "TAX"})

    assert said(refused)[-1].startswith("Not checked yet:")
    company.refresh_from_db()
    assert (company.passed_checks, company.state) == ([], "APPLIED")


@pytest.mark.parametrize(
    ("step", "state", "reason", "then"),
    [
        ("ask", "APPLIED", "Which hall?", "ASKED"),
        ("ask", "APPLIED", " ", "APPLIED"),
        ("refuse", "APPLIED", "No such company.", "REFUSED"),
        ("suspend", "APPLIED", "Nodes are down.", "APPLIED"),
        ("suspend", "VERIFIED", "Nodes are down.", "SUSPENDED"),
        ("refuse", "VERIFIED", "Too late.", "VERIFIED"),
    ],
)
def test_staff_decide_where_the_state_lets_them(
    request, staff_client, step, state, reason, then
):
    company = request.getfixturevalue("verified" if state == "VERIFIED" else "company")
    decide = page(f"staff_supplier_{step}", slug="nordlicht")

    staff_client.post(decide, {"reason": reason})

    company.refresh_from_db()
    assert company.state == then
    assert (company.events.latest("pk").detail == reason) is (state != then)


def test_staff_pages_are_for_known_suppliers_and_for_staff(
    company, staff_client, owner_client
):
    known = page("staff_supplier", slug="nordlicht")
    verify = page("staff_supplier_verify", slug="nordlicht")

    assert staff_client.get(known).status_code == 200
    assert staff_client.get(page("staff_supplier", slug="nobody")).status_code == 404
    assert owner_client.get(known).status_code == 404
    assert owner_client.post(verify).status_code == 404
    assert Company.objects.get().state == "APPLIED"


def test_whoever_was_suspended_is_told_why(verified, staff, owner_client):
    companies.suspend_company(
        supplier_id=verified.pk, reason="Nodes are down.", actor=staff, at=NOON
    )

    assert "Nodes are down." in owner_client.get(page("supplier")).content.decode()


def test_a_person_without_a_supplier_sees_no_desk(stranger_client):
    for name in ("supplier_nodes", "supplier_starts", "supplier_people"):
        assert stranger_client.get(page(name)).status_code == 404


def test_no_second_company_is_begun_by_two_people_of_one(company, owner):
    with pytest.raises(companies.CompanyRefused):
        apply(owner, name="Another")
    assert logged_in(owner).get(page("supplier")).status_code == 200
