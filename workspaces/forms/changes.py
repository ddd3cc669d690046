"""
The forms of what can be done with a workspace that is funded.
"""

from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

import formats
from billing.fields import AmountField
from catalog.models import GpuModel, Region
from catalog.names import plan_name
from workspaces.fields import CountField, GpuField, RegionsField
from workspaces.forms.fit import FitForm
from workspaces.models import State, Workspace
from workspaces.models.specification import MAX_GPUS, MAX_HOURS
from workspaces.services import WantedResume
from workspaces.services.resuming import wanted_after


class StopForm(forms.Form):
    keep_data = forms.TypedChoiceField(
        choices=[("yes", "yes"), ("no", "no")], coerce=lambda value: value == "yes"
    )


class ExtendForm(forms.Form):
    """
    How much longer: hours for what runs, days for data that are kept.
    """

    amount = CountField(label=gettext_lazy("How much longer"), min_value=1)

    def __init__(self, data: QueryDict | None, *, workspace: Workspace) -> None:
        super().__init__(data)
        self.is_running = workspace.state == State.RUNNING
        amount: Any = self.fields["amount"]
        amount.unit = _("h") if self.is_running else _("days")
        amount.initial = 8 if self.is_running else 7

    def by(self) -> timedelta:
        """
        Return the time that was asked for.
        """
        amount = self.cleaned_data["amount"]
        return timedelta(hours=amount) if self.is_running else timedelta(days=amount)


class SeenEndForm(forms.Form):
    """
    The end that a page showed when more time was asked for on it.
    """

    seen_end = forms.CharField(widget=forms.HiddenInput)

    def clean_seen_end(self) -> datetime:
        try:
            return datetime.fromisoformat(self.cleaned_data["seen_end"])
        except ValueError as error:
            raise forms.ValidationError(_("Open the page again.")) from error


class ResumeForm(FitForm):
    """
    On which machine, how long and at what price a stopped workspace goes on.
    """

    gpu = GpuField(
        GpuModel.objects.order_by("memory_gb", "label"),
        label=gettext_lazy("GPU"),
        empty_label=None,
        to_field_name="slug",
    )
    gpus = CountField(
        label=gettext_lazy("Number of GPUs"), min_value=1, max_value=MAX_GPUS
    )
    is_fit_risk_accepted = forms.BooleanField(
        label=gettext_lazy("I know that the estimate says it does not fit"),
        required=False,
    )
    regions = RegionsField(
        Region.objects.order_by("name"),
        label=gettext_lazy("Regions"),
        to_field_name="slug",
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": gettext_lazy("Choose one region or more.")},
    )
    hours = CountField(
        label=gettext_lazy("Hours"),
        unit=gettext_lazy("h"),
        min_value=1,
        max_value=MAX_HOURS,
    )
    kept_days = CountField(
        label=gettext_lazy("Keep data after the end"),
        unit=gettext_lazy("days"),
        min_value=0,
        max_value=365,
    )
    wanted_limit = AmountField(
        label=gettext_lazy("Price limit per GPU-hour"),
        required=False,
        help_text=gettext_lazy("Empty: the best ask at this moment."),
    )

    def __init__(self, data: QueryDict | None, *, workspace: Workspace) -> None:
        super().__init__(
            data,
            initial={
                "gpu": workspace.gpu.slug,
                "gpus": workspace.gpus,
                "regions": workspace.regions,
                "hours": 8,
                "kept_days": workspace.kept_days,
            },
        )
        self.workspace = workspace

    def shown(self) -> list[forms.BoundField]:
        """
        Return the fields as they are asked: the risk only where there is one.
        """
        return [
            field
            for field in self
            if field.name != "is_fit_risk_accepted" or self.is_fit_risky
        ]

    def clean_kept_days(self) -> int:
        days: int = self.cleaned_data["kept_days"]
        plan = self.workspace.storage_plan
        if days > plan.kept_days_after:
            raise forms.ValidationError(
                _("“%(plan)s” keeps data for %(days)s days at most.")
                % {
                    "plan": plan_name(plan),
                    "days": formats.number(plan.kept_days_after, formats.language()),
                }
            )
        return days

    def clean(self) -> dict[str, Any]:
        if not self.errors:
            self.check_fit(wanted_after(self.workspace.quote, self.wanted()))
        return self.cleaned_data

    def wanted(self) -> WantedResume:
        """
        Return what was asked for.
        """
        values = {**self.cleaned_data}
        del values["is_fit_risk_accepted"]
        values["regions"] = sorted(region.slug for region in values["regions"])
        return WantedResume(**values)
