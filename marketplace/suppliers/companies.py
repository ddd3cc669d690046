"""
Businesses that apply to rent out nodes, and what staff decide about them.

Every step is written as an event with who did it and why, and told to its owners by
mail. Only a verified company has offers on the list.
"""

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import transaction
from django.urls import reverse
from django.utils import translation
from django.utils.text import slugify
from django.utils.translation import gettext as _

from billing import services as billing
from billing.mails import queue_mail
from catalog import services as catalog
from catalog.models import Supplier
from marketplace import outbox
from marketplace.models import Check, Company, CompanyEvent, SupplierMember, User

State, Kind = Company.State, CompanyEvent.Kind
LEADS_TO = {
    State.APPLIED: {State.ASKED, State.VERIFIED, State.REFUSED},
    State.ASKED: {State.APPLIED, State.VERIFIED, State.REFUSED},
    State.VERIFIED: {State.SUSPENDED},
    State.REFUSED: {State.APPLIED, State.VERIFIED},
    State.SUSPENDED: {State.VERIFIED},
}


class CompanyRefused(Exception):
    """
    A step cannot be taken; the message says why.
    """


class NameTaken(CompanyRefused):
    """
    Another supplier has this name.
    """


class ReasonMissing(CompanyRefused):
    """
    The supplier is told why, so there has to be a reason.
    """


class ChecksMissing(CompanyRefused):
    """
    Not all checks are passed.
    """


@dataclass(frozen=True, kw_only=True)
class CompanyData:
    """
    What a business says of itself; `name` is what renters see.
    """

    name: str
    legal_name: str
    registration_number: str
    vat_id: str
    address: str
    country: str
    website: str
    contact_name: str
    phone: str
    about: str

    def columns(self) -> dict[str, str]:
        """
        Return the columns of the company: its name is the supplier's.
        """
        return {key: value for key, value in asdict(self).items() if key != "name"}


def party_of(supplier: Supplier) -> str:
    """
    Return how billing names the supplier.
    """
    return f"supplier:{supplier.slug}"


@transaction.atomic
def apply_as_supplier(*, user: User, data: CompanyData, at: datetime) -> Company:
    """
    Take a business's application; who applies is its first owner.

    :raises CompanyRefused: if the person acts for a supplier already
    :raises NameTaken: if another supplier has the name
    """
    # One after the other, or two clicks would make two companies.
    User.objects.select_for_update(no_key=True).get(pk=user.pk)
    if SupplierMember.objects.filter(user=user).exists():
        raise CompanyRefused(_("You act for a supplier already."))
    _check_name(data.name)
    supplier = Supplier.objects.create(name=data.name, slug=_free_slug(data.name))
    company = Company.objects.create(
        supplier=supplier, state=State.APPLIED, applied_at=at, **data.columns()
    )
    SupplierMember.objects.create(
        supplier=supplier,
        user=user,
        email=user.email,
        role=SupplierMember.Role.OWNER,
        invited_at=at,
        joined_at=at,
    )
    record(company, Kind.APPLIED, actor=user, at=at)
    _tell(company, "applied")
    return company


@transaction.atomic
def change_company(
    *, supplier_id: int, data: CompanyData, actor: User, at: datetime
) -> Company:
    """
    Write a company's data anew while it is not verified; staff look at them again.

    :raises CompanyRefused: if it is verified or suspended
    :raises NameTaken: if another supplier has the name
    """
    company = _locked(supplier_id)
    if not company.may_be_changed:
        raise CompanyRefused(
            _("Data that were verified are changed by our staff: write to us.")
        )
    _check_name(data.name, besides=supplier_id)
    Supplier.objects.filter(pk=supplier_id).update(name=data.name)
    Company.objects.filter(pk=supplier_id).update(
        state=State.APPLIED, passed_checks=[], decided_at=None, **data.columns()
    )
    record(company, Kind.CHANGED, actor=actor, at=at)
    return company


@transaction.atomic
def note_check(
    *,
    supplier_id: int,
    check: Check,
    is_passed: bool,
    actor: User,
    at: datetime,
    note: str = "",
) -> None:
    """
    Note what staff found out about a company, or take it back.
    """
    company = _locked(supplier_id)
    passed = {*company.passed_checks} - {check.value}
    if is_passed:
        passed.add(check.value)
    if passed == {*company.passed_checks}:
        return
    Company.objects.filter(pk=supplier_id).update(passed_checks=sorted(passed))
    kind = Kind.PASSED if is_passed else Kind.FAILED
    detail = f"{check.label}: {note}" if note else str(check.label)
    record(company, kind, actor=actor, at=at, detail=detail)


@transaction.atomic
def verify_company(*, supplier_id: int, actor: User, at: datetime) -> None:
    """
    Let a company trade; what it wants to have on the list goes there at once.

    :raises ChecksMissing: if staff have not passed every check
    :raises CompanyRefused: if its state does not lead there
    """
    company = _locked(supplier_id)
    if missing := [check for check in Check if check not in company.passed_checks]:
        names = "; ".join(str(check.label) for check in missing)
        raise ChecksMissing(_("Not checked yet: %(names)s.") % {"names": names})
    _move(company, State.VERIFIED, at=at)
    catalog.verify_supplier(supplier_id=supplier_id, at=at)
    record(company, Kind.VERIFIED, actor=actor, at=at)
    _tell(company, "verified")


@transaction.atomic
def ask_company(*, supplier_id: int, question: str, actor: User, at: datetime) -> None:
    """
    Ask a company something before it is decided; it answers in its application.

    :raises ReasonMissing: if nothing is asked
    :raises CompanyRefused: if its state does not lead there
    """
    _decide(supplier_id, State.ASKED, reason=question, actor=actor, at=at)


@transaction.atomic
def refuse_company(*, supplier_id: int, reason: str, actor: User, at: datetime) -> None:
    """
    Refuse an application; the company may change it and apply again.

    :raises ReasonMissing: if no reason is given
    :raises CompanyRefused: if its state does not lead there
    """
    _decide(supplier_id, State.REFUSED, reason=reason, actor=actor, at=at)


@transaction.atomic
def suspend_company(
    *, supplier_id: int, reason: str, actor: User, at: datetime
) -> None:
    """
    Take all of a company's offers off the list; rentals and payouts go on.

    :raises ReasonMissing: if no reason is given
    :raises CompanyRefused: if it is not verified
    """
    _decide(supplier_id, State.SUSPENDED, reason=reason, actor=actor, at=at)
    catalog.suspend_supplier(supplier_id=supplier_id)


@transaction.atomic
def change_bank_account(
    *,
    supplier: Supplier,
    currency: str,
    holder: str,
    number: str,
    bank_code: str,
    actor: User,
    at: datetime,
) -> None:
    """
    Say where a supplier's payouts in a currency go; all its owners are told.
    """
    billing.set_bank_account(
        party=party_of(supplier),
        currency=currency,
        holder=holder,
        number=number,
        bank_code=bank_code,
    )
    company = Company.objects.select_related("supplier").get(pk=supplier.pk)
    detail = f"{currency} …{number[-4:]}"
    record(company, Kind.BANK, actor=actor, at=at, detail=detail)
    _tell(company, "bank", detail=detail, actor=actor)


def record(
    company: Company,
    kind: CompanyEvent.Kind,
    *,
    actor: User,
    at: datetime,
    detail: str = "",
) -> None:
    """
    Write what happened to a company.
    """
    CompanyEvent.objects.create(
        company=company, kind=kind, actor=actor, detail=detail[:500], at=at
    )


def owners_of(supplier_id: int) -> list[User]:
    """
    Return the people who may do everything for a supplier.
    """
    members = SupplierMember.objects.filter(
        supplier=supplier_id, role=SupplierMember.Role.OWNER, user__isnull=False
    )
    return [member.user for member in members.select_related("user") if member.user]


def desk_url(name: str, language: str) -> str:
    """
    Return the whole address of a page of the desk, in a language.
    """
    with translation.override(language):
        return f"{settings.SITE_URL}{reverse(f'marketplace:{name}')}"


def _locked(supplier_id: int) -> Company:
    companies = Company.objects.select_for_update(of=["self"])
    return companies.select_related("supplier").get(pk=supplier_id)


def _decide(
    supplier_id: int, to: Company.State, *, reason: str, actor: User, at: datetime
) -> None:
    """
    Move a company on, write down why, and tell its owners.
    """
    company = _locked(supplier_id)
    if not reason.strip():
        raise ReasonMissing(_("Write it down: the supplier is told."))
    _move(company, to, at=at)
    record(company, Kind(to.value), actor=actor, at=at, detail=reason)
    _tell(company, to.value.lower(), reason=reason)


def _move(company: Company, to: Company.State, *, at: datetime) -> None:
    if to not in LEADS_TO[State(company.state)]:
        raise CompanyRefused(
            _("This company is “%(state)s” and cannot become “%(to)s”.")
            % {"state": company.get_state_display(), "to": to.label}
        )
    # Who was only asked something is not decided about yet.
    decided_at = None if to == State.ASKED else at
    Company.objects.filter(pk=company.pk).update(state=to, decided_at=decided_at)


def _check_name(name: str, *, besides: int = 0) -> None:
    same = Supplier.objects.filter(name__iexact=name).exclude(pk=besides)
    if same.exists():
        raise NameTaken(_("Another supplier has this name. Choose one of your own."))


def _free_slug(name: str) -> str:
    wanted = slugify(name)[:40] or "supplier"
    taken = {
        *Supplier.objects.filter(slug__startswith=wanted).values_list("slug", flat=True)
    }
    tries = (f"{wanted}-{number}" for number in range(2, len(taken) + 3))
    return next(slug for slug in [wanted, *tries] if slug not in taken)


def _tell(company: Company, what: str, **context: Any) -> None:
    for owner in owners_of(company.pk):
        queue_mail(
            f"supplier_{what}",
            to=owner.email,
            language=owner.language,
            company=company,
            url=desk_url("supplier", owner.language),
            **context,
        )
    outbox.send_soon()
