from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

import formats
from billing import countries
from billing.fields import AmountField
from billing.models import ProviderMovement
from billing.tax import VatIdInvalid, parse_vat_id


class TopUpForm(forms.Form):
    """
    How much to top up, and what decides the VAT on it.
    """

    amount = AmountField(label=_("Amount, before VAT"))
    currency = forms.ChoiceField(
        label=_("Wallet"),
        choices=settings.CURRENCY_CHOICES,
        help_text=_("The amount is credited in this currency."),
    )
    saves_card = forms.BooleanField(
        label=_("Save the card for automatic top-ups"),
        required=False,
        help_text=_(
            "Our payment provider keeps it. Automatic top-ups stay off until you"
            " switch them on, and you can remove the card at any time."
        ),
    )
    country = forms.ChoiceField(
        label=_("Country"), help_text=_("It decides which VAT applies.")
    )
    is_business = forms.BooleanField(label=_("I buy for a business"), required=False)
    name = forms.CharField(
        label=_("Name or company"),
        max_length=150,
        required=False,
        widget=forms.TextInput({"autocomplete": "organization"}),
        help_text=_("As it should stand on invoices."),
    )
    address = forms.CharField(
        label=_("Address"),
        max_length=300,
        required=False,
        widget=forms.TextInput({"autocomplete": "street-address"}),
    )
    vat_id = forms.CharField(
        label=_("VAT number"),
        max_length=20,
        required=False,
        widget=forms.TextInput({"autocomplete": "off"}),
        help_text=_("Of a business in the EU, such as DE136695976."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        language = formats.language()
        country = self.fields["country"]
        assert isinstance(country, forms.ChoiceField)
        country.choices = [
            ("", _("Choose a country")),
            *countries.choices(language=language),
        ]

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if not cleaned.get("is_business"):
            cleaned["vat_id"] = ""
            return cleaned
        for name in ("name", "address"):
            if not cleaned.get(name):
                self.add_error(
                    name, ValidationError(_("An invoice to a business needs this."))
                )
        if cleaned.get("vat_id") and cleaned.get("country"):
            try:
                cleaned["vat_id"] = parse_vat_id(
                    cleaned["vat_id"], country=cleaned["country"]
                )
            except VatIdInvalid as error:
                self.add_error("vat_id", str(error))
        return cleaned


class RefundForm(forms.Form):
    """
    How much goes back; the key makes two clicks one refund.
    """

    amount = AmountField(label=_("Amount, before VAT"))
    key = forms.UUIDField(widget=forms.HiddenInput)


class UnfreezeForm(forms.Form):
    """
    Why staff let a wallet go, and whether its debt is written off.
    """

    reason = forms.CharField(
        label=_("Reason"),
        max_length=200,
        help_text=_("It is kept with your name. The customer does not see it."),
    )
    writes_off = forms.BooleanField(
        label=_("Write the debt off"),
        required=False,
        help_text=_("The house pays what is missing, and the wallet stands at zero."),
    )

    def __init__(self, *args: Any, has_debt: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not has_debt:
            del self.fields["writes_off"]


class ExplainForm(forms.Form):
    """
    What a provider's movement was, and how staff know.
    """

    cause = forms.ChoiceField(
        label=_("What it was"), choices=ProviderMovement.Cause.choices
    )
    reason = forms.CharField(
        label=_("Reason"),
        max_length=200,
        help_text=_("It is kept with your name."),
    )


class AutoTopUpForm(forms.Form):
    """
    When to top up automatically, with how much, and how much a month at most.
    """

    threshold = AmountField(label=_("When less than this is available"))
    amount = AmountField(label=_("Top up this much, before VAT"))
    monthly_cap = AmountField(
        label=_("At most this much in a month, before VAT"),
        help_text=_("Months are counted in UTC."),
    )
    consent = forms.BooleanField(
        label=_("You may charge my saved card with these amounts and the VAT on them")
    )
