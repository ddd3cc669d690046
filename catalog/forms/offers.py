import re
from datetime import datetime
from decimal import Decimal
from typing import Any

from django import forms
from django.conf import settings
from django.contrib.admin.widgets import AdminSplitDateTime
from django.utils.translation import gettext_lazy as _
from djmoney.money import Money

import clock
from catalog import services
from catalog.models import GpuModel, Offer, OfferPrice

RATE = re.compile(r"(\d{1,7})(?:[.,](\d{1,6}))?", re.ASCII)


class RateField(forms.CharField):
    """
    A price per hour as people type it: either mark is the decimal mark.
    """

    default_error_messages = {
        "not_a_rate": _("Write the price like 0.33 or 0,33, with at most 6 decimals."),
    }

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.widget.attrs.update({"inputmode": "decimal", "autocomplete": "off"})

    def clean(self, value: Any) -> Any:
        """
        Return the price as a Decimal, or None where nothing was typed.
        """
        text = super().clean(value)
        if not text:
            return None
        if not (found := RATE.fullmatch(text)):
            raise forms.ValidationError(
                self.error_messages["not_a_rate"], code="not_a_rate"
            )
        return Decimal(f"{found[1]}.{found[2] or 0}")


class OfferForm(forms.ModelForm):
    """
    An offer with, if staff want one, the next version of its price.
    """

    new_price = RateField(
        label=_("New price"),
        required=False,
        help_text=_(
            "For one GPU and hour, ex tax. It is added as a new version: the history"
            " keeps the old one, and running rentals keep theirs."
        ),
    )
    currency = forms.ChoiceField(
        label=_("Currency"),
        choices=[(code, code) for code in settings.CURRENCIES],
        required=False,
    )
    valid_from = forms.SplitDateTimeField(
        label=_("Valid from"),
        required=False,
        help_text=_("Empty: at once."),
        widget=AdminSplitDateTime,
    )
    is_confirmed = forms.BooleanField(
        label=_("Yes, this price is meant"),
        required=False,
        help_text=_(
            "Only asked for when a price is far from what the GPU costs elsewhere. Then"
            " a second member of staff has to approve it."
        ),
    )
    reason = forms.CharField(label=_("Reason"), required=False, max_length=200)

    class Meta:
        model = Offer
        fields = [
            "supplier",
            "gpu",
            "region",
            "gpus_per_node",
            "nodes",
            "available_until",
            "is_listed",
        ]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.at = clock.now()
        self.needs_approval = False
        # A price stays in its currency unless staff choose another.
        prices = OfferPrice.objects.filter(offer=self.instance.pk)
        latest = prices.order_by("-valid_from").first()
        if latest:
            currency = latest.hourly_price.currency.code
            self.fields["currency"].initial = currency

    def clean(self) -> dict[str, Any]:
        """
        Refuse a price that the offer could not take.
        """
        data = super().clean() or {}
        gpu = self.instance.gpu if self.instance.pk else data.get("gpu")
        if data.get("new_price") is None or not isinstance(gpu, GpuModel):
            return data
        if self.errors:
            return data
        try:
            self.needs_approval = services.check_price(
                gpu_id=gpu.pk,
                at=self.at,
                is_confirmed=data.get("is_confirmed", False),
                **self.price(),
            )
        except services.PriceRefused as refusal:
            self.add_error("new_price", str(refusal))
        return data

    def price(self) -> dict[str, Any]:
        """
        Return the new price as the arguments of `services.set_price`.
        """
        data = self.cleaned_data
        valid_from: datetime = data.get("valid_from") or self.at
        return {
            "hourly_price": Money(data["new_price"], data.get("currency") or "USD"),
            "valid_from": valid_from,
            "reason": data.get("reason", ""),
        }
