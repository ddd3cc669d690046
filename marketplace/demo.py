"""
The demo's accounts and dates.
"""

from datetime import datetime, timedelta

from allauth.account.models import EmailAddress
from django.db import transaction

from billing import services as billing
from catalog import services as catalog
from catalog.models import Offer, PriceProposal
from marketplace import demo_supplier, services
from marketplace.demo_logins import PASSWORD, RENTER, STAFF, SUPPLIER
from marketplace.models import Launch, User

OPENS_IN = timedelta(days=12, hours=5)
SECOND_STAFF = "pricing@corehour.example"
APPLICANT = "applicant@corehour.example"
TENANTS = [f"tenant{number}@corehour.example" for number in range(1, 9)]
INVENTED_SUPPLIER = "demo-compute"
CONFIRMED_SUPPLIERS = ("everxcloud", "demo-compute")


def prepare(*, at: datetime) -> None:
    """
    Bring the demo to where a newcomer finds it. What exists already stays.
    """
    staff = _prepare_market(at=at)
    signed_up_at = at - demo_supplier.LISTED_FOR
    demo_supplier.prepare(
        owner=_person(SUPPLIER, at=signed_up_at),
        applicant=_person(APPLICANT, at=signed_up_at, password=None),
        renters=[_person(email, at=signed_up_at, password=None) for email in TENANTS],
        staff=staff,
        at=at,
    )


@transaction.atomic
def _prepare_market(*, at: datetime) -> User:
    """
    Load the catalog, and make who rents and who runs the site; return the latter.

    The prices of the suppliers that the demo plays are confirmed on every start, so
    that they do not grow stale on a machine that was switched off for a month.
    """
    catalog.load_catalog(at=at)
    billing.load_shipped_rates()
    for supplier in CONFIRMED_SUPPLIERS:
        catalog.confirm_prices_of(supplier_slug=supplier, at=at)
    catalog.invent_past_prices(supplier_slug=INVENTED_SUPPLIER, at=at)
    _person(RENTER, at=at)
    staff = _person(STAFF, at=at, is_staff=True, is_superuser=True)
    Launch.objects.get_or_create(
        pk=Launch.THE_ONE, defaults={"opens_at": _next_hour(at + OPENS_IN)}
    )
    _propose_a_price(at=at)
    return staff


def _propose_a_price(*, at: datetime) -> None:
    """
    Let a price wait, by somebody else than who is logged in to approve it.
    """
    if PriceProposal.objects.exists():
        return
    author = _person(SECOND_STAFF, at=at, password=None, is_staff=True)
    offer = Offer.objects.filter(supplier__slug=INVENTED_SUPPLIER).earliest("pk")
    catalog.propose_price(
        offer_id=offer.pk,
        hourly_price=offer.hourly_price(at) * 10,
        valid_from=at,
        actor=author,
        at=at,
        reason="Demo: is it a slip of the decimal point?",
    )


def _person(
    email: str, *, at: datetime, password: str | None = PASSWORD, **flags: bool
) -> User:
    """
    Return who has this address; without a password nobody can log in as them.
    """
    if known := User.objects.filter(email=email).first():
        return known
    user = services.sign_up(email=email, password=password, at=at)
    if flags:
        User.objects.filter(pk=user.pk).update(**flags)
    EmailAddress.objects.create(user=user, email=email, verified=True, primary=True)
    return user


def _next_hour(at: datetime) -> datetime:
    return at.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)
