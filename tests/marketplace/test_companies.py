"""
A business applies, staff look into it, and its people act for it.
"""

from dataclasses import replace

import pytest
from django.db import IntegrityError, transaction
from post_office.models import Email

from catalog.models import Offer, Supplier
from marketplace.demo_supplier import company_data
from marketplace.models import Check, Company, CompanyEvent, SupplierMember
from marketplace.suppliers import companies, people
from tests.marketplace.supplier_fixtures import (
    APPLIED,
    apply,
    list_nodes,
    name_bank,
    verify,
)
from tests.workspaces.conftest import DAY, NOON

pytestmark = pytest.mark.django_db


def state_of(company):
    return Company.objects.get(pk=company.pk).state


def subjects():
    return [mail.subject for mail in Email.objects.order_by("pk")]


def test_who_applies_is_its_owner_and_told(owner):
    company = apply(owner)

    member = SupplierMember.objects.get()
    assert (member.user, member.is_owner) == (owner, True)
    assert state_of(company) == "APPLIED"
    assert not company.supplier.is_verified
    assert company.supplier.slug == "nordlicht"
    assert subjects() == ["Your application is here"]


def test_nobody_applies_twice_or_under_another_name(owner, stranger, catalog):
    apply(owner)

    with pytest.raises(companies.CompanyRefused):
        apply(owner, name="Another")
    with pytest.raises(companies.NameTaken):
        apply(stranger, name="everxcloud")

    assert Company.objects.count() == 1
    assert not Supplier.objects.filter(name="Another").exists()


def test_is_verified_only_when_every_check_is_passed(company, staff):
    companies.note_check(
        supplier_id=company.pk,
        check=Check.TAX,
        is_passed=True,
        actor=staff,
        at=APPLIED,
    )

    with pytest.raises(companies.ChecksMissing, match="register"):
        companies.verify_company(supplier_id=company.pk, actor=staff, at=APPLIED)
    assert state_of(company) == "APPLIED"

    verify(company, staff)
    assert state_of(company) == "VERIFIED"
    assert Supplier.objects.get().is_verified
    assert subjects()[-1] == "Nordlicht is verified"


def test_new_data_are_checked_anew(company, owner, staff):
    companies.note_check(
        supplier_id=company.pk,
        check=Check.TAX,
        is_passed=True,
        actor=staff,
        at=APPLIED,
    )
    companies.ask_company(
        supplier_id=company.pk, question="Who are you?", actor=staff, at=APPLIED
    )
    assert state_of(company) == "ASKED"
    assert "Who are you?" in Email.objects.latest("pk").message

    companies.change_company(
        supplier_id=company.pk,
        data=replace(company_data("Nordlicht"), phone="+49 1 2345"),
        actor=owner,
        at=NOON,
    )

    company.refresh_from_db()
    assert (company.state, company.passed_checks) == ("APPLIED", [])
    assert company.phone == "+49 1 2345"


def test_verified_data_stay_as_they_were_checked(verified, owner):
    with pytest.raises(companies.CompanyRefused):
        companies.change_company(
            supplier_id=verified.pk,
            data=company_data("Nordlicht Two"),
            actor=owner,
            at=NOON,
        )

    assert Supplier.objects.get().name == "Nordlicht"


@pytest.mark.parametrize("verb", ["ask", "refuse"])
def test_decisions_need_a_reason(company, staff, verb):
    name = "question" if verb == "ask" else "reason"

    with pytest.raises(companies.ReasonMissing):
        getattr(companies, f"{verb}_company")(
            supplier_id=company.pk, actor=staff, at=NOON, **{name: " "}
        )

    assert state_of(company) == "APPLIED"


def test_a_refused_company_may_apply_again(company, owner, staff):
    companies.refuse_company(
        supplier_id=company.pk, reason="No such number.", actor=staff, at=NOON
    )
    assert state_of(company) == "REFUSED"

    companies.change_company(
        supplier_id=company.pk, data=company_data("Nordlicht"), actor=owner, at=NOON
    )
    assert state_of(company) == "APPLIED"


def test_a_suspended_company_leaves_the_list(catalog, verified, staff):
    offer = list_nodes(verified)
    companies.suspend_company(
        supplier_id=verified.pk, reason="Unreachable.", actor=staff, at=NOON
    )
    assert not Offer.objects.live(NOON).filter(pk=offer.pk).exists()

    verify(verified, staff, at=NOON)
    assert Offer.objects.live(NOON).filter(pk=offer.pk).exists()


def test_what_happened_is_never_changed(company):
    with pytest.raises(IntegrityError), transaction.atomic():
        CompanyEvent.objects.update(detail="Nothing.")


def test_a_new_bank_account_is_told_to_all_owners(verified, owner):
    name_bank(verified, owner)

    mail = Email.objects.latest("pk")
    assert mail.to == [owner.email]
    assert "USD …6199" in mail.message
    assert "DE755121" not in mail.message


# --- people


@pytest.fixture
def invited(verified, owner):
    people.invite_person(
        supplier_id=verified.pk,
        email="stranger@example.com",
        role="OPERATOR",
        actor=owner,
        at=NOON,
    )
    return SupplierMember.objects.get(email="stranger@example.com")


def test_an_invitation_is_for_whoever_has_the_address(invited, stranger, renter):
    assert list(people.invitations_of(renter)) == []
    with pytest.raises(SupplierMember.DoesNotExist):
        people.join_supplier(user=renter, member_id=invited.pk, at=NOON)

    people.join_supplier(user=stranger, member_id=invited.pk, at=NOON + DAY)

    member = people.member_of(stranger)
    assert (member.supplier.slug, member.is_owner) == ("nordlicht", False)


def test_nobody_acts_for_two_suppliers(invited, rival):
    busy = rival.supplier.members.get().user
    SupplierMember.objects.filter(pk=invited.pk).update(email=busy.email)

    with pytest.raises(companies.CompanyRefused):
        people.join_supplier(user=busy, member_id=invited.pk, at=NOON)

    assert people.member_of(busy).supplier.slug == "rival"


def test_the_last_owner_stays(verified, invited, owner):
    own = SupplierMember.objects.get(user=owner)

    with pytest.raises(companies.CompanyRefused):
        people.remove_person(
            supplier_id=verified.pk, member_id=own.pk, actor=owner, at=NOON
        )
    people.remove_person(
        supplier_id=verified.pk, member_id=invited.pk, actor=owner, at=NOON
    )

    assert SupplierMember.objects.get() == own
