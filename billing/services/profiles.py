"""
Who pays, from where, and which VAT that means on a day.
"""

import csv
import datetime
from pathlib import Path

from django.conf import settings
from django.db.models import Q
from django.utils.translation import gettext as _

from billing import countries, tax, vies
from billing.models import BillingProfile, VatRate

ASKS_AGAIN_AFTER = datetime.timedelta(minutes=10)
# Some days before an answer is too old to count (`ANSWER_IS_GOOD_FOR`).
ANSWER_IS_OLD_AFTER = datetime.timedelta(days=25)
CHECKS_A_RUN = 20
RATES_FILE = Path(__file__).parent.parent / "data" / "vat_rates.csv"


class CountryUnknown(Exception):
    """
    The code is of no country.
    """

    def __init__(self) -> None:
        super().__init__(_("Choose your country from the list."))


class VatRateMissing(Exception):
    """
    Staff have to enter the country's VAT rate before it can be sold to.
    """

    def __init__(self) -> None:
        super().__init__(
            _("We do not know the VAT rate of your country yet. Please write to us.")
        )


def profile_of(*, user_id: int) -> BillingProfile | None:
    """
    Return the user's billing details, or None before they were given.
    """
    return BillingProfile.objects.filter(user_id=user_id).first()


def save_profile(
    *,
    user_id: int,
    country: str,
    is_business: bool = False,
    vat_id: str = "",
    name: str = "",
    address: str = "",
) -> BillingProfile:
    """
    Save the user's billing details.

    A new VAT number starts as not checked, which means that VAT is charged; the same
    number keeps what is known of it.

    :raises CountryUnknown: if the country is not one
    :raises billing.tax.VatIdInvalid: if the number is no number of the country
    """
    if country not in countries.codes():
        raise CountryUnknown
    vat_id = tax.parse_vat_id(vat_id, country=country) if is_business and vat_id else ""
    known = profile_of(user_id=user_id)
    content = {
        "country": country,
        "is_business": is_business,
        "vat_id": vat_id,
        "name": name,
        "address": address,
    }
    if known is None or known.vat_id != vat_id:
        content["vat_id_checked_at"] = content["vat_id_asked_at"] = None
        content["vat_id_status"] = (
            tax.IdStatus.UNCHECKED if vat_id else tax.IdStatus.NONE
        )
    profile, _is_new = BillingProfile.objects.update_or_create(
        user_id=user_id, defaults=content
    )
    return profile


def decide_vat(profile: BillingProfile, *, at: datetime.datetime) -> tax.Decision:
    """
    Return the VAT on a sale to the customer at `at`.

    :raises VatRateMissing: if their country has no rate on that day
    """
    country = tax.taxing_country(profile.country)
    row = VatRate.objects.on(at.date(), country=country) if country else None
    if country and row is None:
        raise VatRateMissing
    return tax.decide(
        customer=profile.customer(at),
        seller_country=settings.SELLER_COUNTRY,
        standard_rate=row.rate if row else None,
    )


def check_vat_id(*, user_id: int, at: datetime.datetime) -> None:
    """
    Ask the register about the user's VAT number, if that is due.

    Without an answer an earlier one stands until it is too old.
    """
    profile = profile_of(user_id=user_id)
    if profile is None or not _is_check_due(profile, at=at):
        return
    answer = vies.ask(profile.vat_id)
    changes: dict[str, object] = {"vat_id_asked_at": at}
    if answer != tax.IdStatus.UNCHECKED:
        changes |= {"vat_id_status": answer, "vat_id_checked_at": at}
    # The number may have been changed while the register was asked.
    same = BillingProfile.objects.filter(pk=profile.pk, vat_id=profile.vat_id)
    same.update(**changes)


def check_vat_ids(*, at: datetime.datetime) -> int:
    """
    Ask the register about the numbers that are due and return how many were asked.
    """
    asked_lately = Q(vat_id_asked_at__gt=at - ASKS_AGAIN_AFTER)
    waiting = Q(vat_id_status=tax.IdStatus.UNCHECKED) | Q(
        vat_id_status=tax.IdStatus.VALID, vat_id_checked_at__lt=at - ANSWER_IS_OLD_AFTER
    )
    rows = BillingProfile.objects.filter(waiting).exclude(asked_lately).order_by("pk")
    user_ids = list(rows.values_list("user_id", flat=True)[:CHECKS_A_RUN])
    for user_id in user_ids:
        check_vat_id(user_id=user_id, at=at)
    return len(user_ids)


def _is_check_due(profile: BillingProfile, *, at: datetime.datetime) -> bool:
    asked_at, checked_at = profile.vat_id_asked_at, profile.vat_id_checked_at
    if not profile.vat_id or (asked_at and at - asked_at < ASKS_AGAIN_AFTER):
        return False
    is_fresh = checked_at is not None and at - checked_at < ANSWER_IS_OLD_AFTER
    return not is_fresh and profile.vat_id_status != tax.IdStatus.INVALID


def load_vat_rates() -> int:
    """
    Add the shipped rates that are not in the table yet and return their number.

    What staff entered or changed stays as it is.
    """
    before = VatRate.objects.count()
    with RATES_FILE.open(newline="", encoding="utf-8") as rows:
        VatRate.objects.bulk_create(
            [VatRate(**row) for row in csv.DictReader(rows)], ignore_conflicts=True
        )
    return VatRate.objects.count() - before
