"""
VAT on what customers buy: which rate applies, and what it comes to. Pure.

A top-up is an electronically supplied service, taxed where the customer is. A private
customer, and a business whose number is not known to be valid, pays the rate of their
country; a business in another member state with a valid number accounts for the tax
itself (reverse charge, Article 196 of Directive 2006/112/EC).
"""

from dataclasses import dataclass
from decimal import Decimal

from django.db import models
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from djmoney.money import Money
from stdnum.eu import vat as eu_vat
from stdnum.exceptions import InvalidLength, ValidationError

from money import quantize, round_half_up

EU_COUNTRIES = frozenset([
    "AT", "BE", "BG", "CY", "CZ", "DE", "DK", "EE", "ES",
    "FI", "FR", "GR", "HR", "HU", "IE", "IT", "LT", "LU",
    "LV", "MT", "NL", "PL", "PT", "RO", "SE", "SI", "SK",
])  # fmt: skip
# Monaco applies French VAT and the Isle of Man British VAT.
TAXED_AS = {"MC": "FR", "IM": "GB"}
# The longest number has 14 characters; people type blanks, points and dashes as well.
LONGEST_TYPED = 40


class VatIdInvalid(ValueError):
    """
    The text is no VAT number of the country; the message says what to do.
    """


class Treatment(models.TextChoices):
    STANDARD = "STANDARD", _("VAT of the customer's country")
    REVERSE_CHARGE = "REVERSE_CHARGE", _("Reverse charge")
    OUTSIDE = "OUTSIDE", _("Outside the scope of EU and UK VAT")


class IdStatus(models.TextChoices):
    """
    The three answers about a VAT number, and that there is none.
    """

    NONE = "NONE", _("No VAT number")
    VALID = "VALID", _("Valid")
    INVALID = "INVALID", _("Not valid")
    UNCHECKED = "UNCHECKED", _("Could not be checked")


@dataclass(frozen=True, kw_only=True)
class Customer:
    """
    What the tax on a sale depends on; `country` is an ISO 3166 code.
    """

    country: str
    is_business: bool = False
    id_status: IdStatus = IdStatus.NONE


@dataclass(frozen=True, kw_only=True)
class Decision:
    """
    The rate of a sale in percent, and why; `is_pending` while a number is unchecked.
    """

    rate: Decimal
    treatment: Treatment
    is_pending: bool = False

    @property
    def reason(self) -> Promise:
        """
        Say to the customer why this rate applies.
        """
        if self.is_pending:
            return _(
                "Your VAT number could not be checked yet, so VAT is charged for now."
            )
        return REASONS[self.treatment]


REASONS = {
    Treatment.STANDARD: _("VAT of your country applies."),
    Treatment.REVERSE_CHARGE: _(
        "Reverse charge: you account for the VAT as a business in another EU country."
    ),
    Treatment.OUTSIDE: _("No VAT: your country is outside the EU and the UK."),
}


@dataclass(frozen=True, kw_only=True)
class Taxed:
    """
    An amount before tax, its tax and their sum, which always add up.
    """

    net: Money
    vat: Money

    @property
    def total(self) -> Money:
        return self.net + self.vat


def taxing_country(country: str) -> str | None:
    """
    Return the country whose VAT applies to customers in `country`, or None if none.
    """
    country = TAXED_AS.get(country, country)
    return country if country in EU_COUNTRIES or country == "GB" else None


def decide(
    *, customer: Customer, seller_country: str, standard_rate: Decimal | None
) -> Decision:
    """
    Return the rate for a sale to `customer`.

    `standard_rate` is that of the customer's taxing country in percent on the day of
    the sale, None where no VAT applies.

    :raises ValueError: if a rate is needed and missing: it is never taken to be zero
    """
    country = taxing_country(customer.country)
    if country is None:
        return Decision(rate=Decimal(0), treatment=Treatment.OUTSIDE)
    if standard_rate is None:
        raise ValueError(f"There is no VAT rate for {country}.")
    # A number counts only across a border inside the EU: at home, and for British
    # numbers, the seller charges VAT.
    may_reverse = (
        customer.is_business
        and country in EU_COUNTRIES
        and seller_country in EU_COUNTRIES
        and country != seller_country
    )
    if may_reverse and customer.id_status == IdStatus.VALID:
        return Decision(rate=Decimal(0), treatment=Treatment.REVERSE_CHARGE)
    return Decision(
        rate=standard_rate,
        treatment=Treatment.STANDARD,
        is_pending=may_reverse and customer.id_status == IdStatus.UNCHECKED,
    )


def add_vat(net: Money, *, rate: Decimal) -> Taxed:
    """
    Return the net with its tax at `rate` percent, rounded half up to the minor unit.

    Sum the net of all lines at one rate first: tax is rounded once per rate.
    """
    return Taxed(net=net, vat=quantize(net * rate / 100))


def vat_to_return(
    *, net: Decimal, vat: Decimal, returned_net: Decimal, returned_vat: Decimal
) -> Decimal:
    """
    Return the tax that goes back once `returned_net` of `net` in all is returned.

    Worked out on the sum of all refunds, less the tax already returned, so that the
    last refund brings back exactly the rest.
    """
    return round_half_up(vat * returned_net / net) - returned_vat


def vat_prefix(country: str) -> str:
    """
    Return the prefix of the country's VAT numbers: Greece's is EL.
    """
    return "EL" if country == "GR" else country


def parse_vat_id(text: str, *, country: str) -> str:
    """
    Return the number in its compact form with the country's prefix.

    Only the form and the check digits are looked at; whether the number is in use is
    for the tax office to say.

    :raises VatIdInvalid: if it is no number of this country
    """
    country = TAXED_AS.get(country, country)
    if country not in EU_COUNTRIES:
        raise VatIdInvalid(_("VAT numbers are only used for countries in the EU."))
    prefix = vat_prefix(country)
    number = text.strip().upper()
    if not number.startswith(prefix):
        number = prefix + number
    try:
        if len(number) > LONGEST_TYPED:
            raise InvalidLength
        return str(eu_vat.validate(number))
    except ValidationError:
        message = _("This is no VAT number of your country. It starts with %s.")
        raise VatIdInvalid(message % prefix) from None
