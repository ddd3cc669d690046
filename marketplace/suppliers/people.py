"""
Who acts for a supplier: invited by e-mail, joined with an account of that address.
"""

from datetime import datetime
from typing import TYPE_CHECKING

from allauth.account.models import EmailAddress
from django.db import transaction
from django.utils.translation import gettext as _

from billing.mails import queue_mail
from marketplace import outbox
from marketplace.models import Company, CompanyEvent, SupplierMember, User
from marketplace.suppliers.companies import CompanyRefused, desk_url, record

if TYPE_CHECKING:
    from django.db.models import QuerySet

Kind = CompanyEvent.Kind
MOST_PEOPLE = 50


def member_of(user: User) -> SupplierMember | None:
    """
    Return for whom a person acts, with the supplier and its company.
    """
    members = SupplierMember.objects.filter(user=user)
    return members.select_related("supplier__company").first()


def invitations_of(user: User) -> "QuerySet[SupplierMember]":
    """
    Return the invitations to the person's confirmed addresses.
    """
    addresses = EmailAddress.objects.filter(user=user, verified=True)
    return SupplierMember.objects.filter(
        user=None, email__in=addresses.values("email")
    ).select_related("supplier")


@transaction.atomic
def invite_person(
    *, supplier_id: int, email: str, role: str, actor: User, at: datetime
) -> None:
    """
    Invite somebody by mail; whether the address has an account is told to nobody.

    :raises CompanyRefused: if the person is there already, or there are too many
    """
    company = Company.objects.select_for_update(of=["self"]).get(pk=supplier_id)
    people = SupplierMember.objects.filter(supplier=supplier_id)
    if people.filter(email=email).exists():
        raise CompanyRefused(_("This person was invited before."))
    if people.count() >= MOST_PEOPLE:
        raise CompanyRefused(_("There are as many people here as there can be."))
    people.create(supplier_id=supplier_id, email=email, role=role, invited_at=at)
    record(company, Kind.INVITED, actor=actor, at=at, detail=email)
    queue_mail(
        "supplier_invited",
        to=email,
        language=actor.language,
        company=company,
        actor=actor,
        url=desk_url("supplier", actor.language),
    )
    outbox.send_soon()


@transaction.atomic
def join_supplier(*, user: User, member_id: int, at: datetime) -> SupplierMember:
    """
    Take an invitation; from then on the person acts for the supplier.

    :raises SupplierMember.DoesNotExist: if none was sent to an address of theirs
    :raises CompanyRefused: if they act for another supplier
    """
    if SupplierMember.objects.filter(user=user).exists():
        raise CompanyRefused(_("You act for a supplier already."))
    member = invitations_of(user).select_for_update(of=["self"]).get(pk=member_id)
    member.user, member.joined_at = user, at
    member.save(update_fields=["user", "joined_at"])
    company = Company.objects.get(pk=member.supplier_id)
    record(company, Kind.JOINED, actor=user, at=at, detail=member.email)
    return member


@transaction.atomic
def remove_person(
    *, supplier_id: int, member_id: int, actor: User, at: datetime
) -> None:
    """
    Let a person no longer act for the supplier, or take an invitation back.

    :raises SupplierMember.DoesNotExist: if the supplier has no such person
    :raises CompanyRefused: if nobody would be left who may do everything
    """
    company = Company.objects.select_for_update(of=["self"]).get(pk=supplier_id)
    people = SupplierMember.objects.filter(supplier=supplier_id)
    member = people.get(pk=member_id)
    owners = people.filter(role=SupplierMember.Role.OWNER, user__isnull=False)
    if not owners.exclude(pk=member_id).exists():
        raise CompanyRefused(_("The last owner stays: invite another one first."))
    member.delete()
    record(company, Kind.LEFT, actor=actor, at=at, detail=member.email)
