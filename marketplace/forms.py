from datetime import datetime, timedelta
from functools import cache
from typing import Any
from zoneinfo import available_timezones

from allauth.account.forms import SignupForm as AllauthSignupForm
from django import forms
from django.conf import settings
from django.utils.translation import gettext_lazy as _

from billing.fields import AmountField
from catalog.models import BaseModel, Method
from marketplace.models import Launch, User
from workspaces.models.specification import MAX_HOURS


class SignupForm(AllauthSignupForm):
    """
    Sign-up whose honeypot is hidden by the stylesheet, not by a forbidden style.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        honeypot = self.fields[settings.ACCOUNT_SIGNUP_FORM_HONEYPOT_FIELD]
        honeypot.label = _("Leave this field empty")
        honeypot.template_name = "components/honeypot.html"
        honeypot.widget = forms.TextInput(
            attrs={"tabindex": "-1", "autocomplete": "off"}
        )


class FirstQuestionForm(forms.Form):
    """
    The planner's first question; the planner itself checks the answer.
    """

    model = forms.ChoiceField(label=_("Base model"), initial="meta-llama-3-1-8b")
    method = forms.ChoiceField(
        label=_("Method"),
        choices=Method.choices,
        initial=Method.QLORA,
        widget=forms.RadioSelect(attrs={"class": "segments"}),
    )

    def __init__(self) -> None:
        super().__init__()
        listed = BaseModel.objects.filter(is_listed=True)
        names = listed.order_by("family", "total_params_b").values_list("slug", "name")
        model = self.fields["model"]
        assert isinstance(model, forms.ChoiceField)
        model.choices = list(names)


@cache
def time_zone_choices() -> list[tuple[str, str]]:
    """
    Return the zones that have a place, sorted, after UTC.
    """
    zones = sorted(zone for zone in available_timezones() if "/" in zone)
    places = [zone for zone in zones if not zone.startswith(("Etc/", "SystemV/"))]
    return [(zone, zone.replace("_", " ")) for zone in ["UTC", *places]]


class ProfileForm(forms.ModelForm):
    time_zone = forms.ChoiceField(
        label=_("Time zone"),
        choices=time_zone_choices,
        help_text=_("Pages show times in this zone. Bills are kept in UTC hours."),
    )

    class Meta:
        model = User
        fields = ["name", "language", "currency", "time_zone"]
        labels = {
            "name": _("Name"),
            "language": _("Language"),
            "currency": _("Currency"),
        }


class OpeningForm(forms.ModelForm):
    def __init__(self, *args: Any, at: datetime, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.at = at

    def clean_opens_at(self) -> datetime | None:
        opens_at: datetime | None = self.cleaned_data["opens_at"]
        if opens_at is not None and opens_at <= self.at:
            raise forms.ValidationError(
                _("This time has passed. Choose a later one, or open the market now.")
            )
        return opens_at

    class Meta:
        model = Launch
        fields = ["opens_at"]
        labels = {"opens_at": _("The market opens on")}
        help_texts = {
            "opens_at": _(
                "In your time zone. The market opens by itself then, unless you open"
                " it before. Empty: it stays closed until you do."
            )
        }
        widgets = {
            "opens_at": forms.DateTimeInput(
                attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"
            )
        }


class LimitForm(forms.Form):
    """
    What somebody would pay; size and region are those that the page shows.
    """

    limit = AmountField(label=_("Price limit per GPU-hour"))
    hours = forms.IntegerField(
        label=_("Hours"), min_value=1, max_value=MAX_HOURS, initial=40
    )
    gpus = forms.IntegerField(widget=forms.HiddenInput, required=False)
    region = forms.CharField(widget=forms.HiddenInput, required=False)

    def __init__(self, *args: Any, currency: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.currency = currency
        self.fields["limit"].unit = currency  # type: ignore[attr-defined]


class PauseForm(forms.Form):
    reason = forms.CharField(
        label=_("Reason"),
        max_length=200,
        help_text=_("Everybody who waits is shown it."),
    )


class ClockForm(forms.Form):
    STEPS = {"1": _("1 hour"), "8": _("8 hours"), "24": _("1 day")}

    hours = forms.ChoiceField(choices=list(STEPS.items()))

    def step(self) -> timedelta:
        return timedelta(hours=int(self.cleaned_data["hours"]))
