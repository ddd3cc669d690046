"""
What suppliers and staff say about machines.
"""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from workspaces import ssh
from workspaces.models import Code
from workspaces.models.events import INTERRUPTIONS


class StartForm(forms.Form):
    """
    Where a machine that is ready answers, and how to know it.
    """

    host = forms.CharField(label=_("Host name or IP address"), max_length=150)
    port = forms.IntegerField(label=_("Port"), initial=22, min_value=1, max_value=65535)
    login = forms.CharField(label=_("User"), initial="root", max_length=32)
    host_key = forms.CharField(
        label=_("Host key"),
        max_length=5000,
        help_text=_("The line of /etc/ssh/ssh_host_ed25519_key.pub on the machine."),
    )

    def clean_host_key(self) -> str:
        try:
            return ssh.read_public_key(self.cleaned_data["host_key"]).text
        except ssh.KeyRefused as error:
            raise forms.ValidationError(str(error)) from error

    def clean(self) -> dict[str, Any]:
        values = self.cleaned_data
        if not self.errors:
            try:
                values["address"] = ssh.address_of(
                    user=values["login"], host=values["host"], port=values["port"]
                )
            except ssh.AddressRefused as error:
                self.add_error("host", str(error))
        return values


class FailureForm(forms.Form):
    reason = forms.CharField(
        label=_("Why it cannot be started"),
        max_length=300,
        help_text=_("The renter reads this sentence."),
    )


class InterruptionForm(forms.Form):
    code = forms.ChoiceField(
        label=_("What happened"),
        choices=[(code.value, code.label) for code in INTERRUPTIONS],
    )
    reason = forms.CharField(
        label=_("In a sentence"),
        max_length=300,
        help_text=_("The renter reads this sentence."),
    )
    is_withdrawn = forms.BooleanField(
        label=_("Do not rent this node out again"), required=False
    )

    def clean_code(self) -> Code:
        return Code(self.cleaned_data["code"])


class NoteForm(forms.Form):
    note = forms.CharField(label=_("What was done"), max_length=300)
