"""
Who pays, from where, and which VAT that means on a day.
"""

import csv
import datetime
from pathlib import Path

from django.conf import settings
from django.utils.translation import gettext as _

from billing import countries, tax
from billing.models import BillingProfile, VatRate

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
        content["vat_id_checked_at"] = None
        content["vat_id_status"] = (
            tax.IdStatus.UNCHECKED if vat_id else tax.IdStatus.NONE
        )
    profile, _is_new = BillingProfile.objects.update_or_create(
        user_id=user_id, defaults=content
    )
    return profile


def decide_vat(profile: BillingProfile, *, day: datetime.date) -> tax.Decision:
    """
    Return the VAT on a sale to the customer on `day`.

    :raises VatRateMissing: if their country has no rate on that day
    """
    country = tax.taxing_country(profile.country)
    row = VatRate.objects.on(day, country=country) if country else None
    if country and row is None:
        raise VatRateMissing
    return tax.decide(
        customer=profile.customer(),
        seller_country=settings.SELLER_COUNTRY,
        standard_rate=row.rate if row else None,
    )


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
