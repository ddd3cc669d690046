"""
What forms say of a GPU that is too small: it needs an explicit "I know".
"""

from typing import TYPE_CHECKING

from django import forms
from django.utils.translation import gettext as _

import formats
from workspaces.models.quote import Verdict
from workspaces.services.fit import fit_of

if TYPE_CHECKING:
    from workspaces.services.fit import Job
    from workspaces.services.quotes import WantedWorkspace


class FitForm(forms.Form):
    """
    A form with a `gpu`, and with `is_fit_risk_accepted`, which is asked where needed.
    """

    is_fit_risky = False

    def check_fit(self, job: "Job | WantedWorkspace") -> None:
        """
        Refuse a GPU that is too small for the job, unless that is known.
        """
        verdict, needed_gb = fit_of(job)
        self.is_fit_risky = verdict == Verdict.NO
        if not self.is_fit_risky or self.cleaned_data["is_fit_risk_accepted"]:
            return
        language = formats.language()
        memory_gb = self.cleaned_data["gpu"].process_gb
        message = _(
            "The estimate is %(needed)s on each GPU, and this one has %(memory)s."
            " Choose a larger GPU, or say below that you know."
        )
        self.add_error(
            "gpu",
            message
            % {
                "needed": formats.gigabytes(needed_gb, language),
                "memory": formats.gigabytes(memory_gb, language),
            },
        )
