from django import forms
from django.utils.translation import gettext_lazy as _


class KeyForm(forms.Form):
    pasted = forms.CharField(
        label=_("Public key"),
        max_length=5000,
        widget=forms.Textarea(
            attrs={"rows": 4, "spellcheck": "false", "autocomplete": "off"}
        ),
        help_text=_(
            "One line, from a file such as ~/.ssh/id_ed25519.pub. Never the file"
            " without .pub: that is your private key."
        ),
    )
    name = forms.CharField(
        label=_("Name"),
        required=False,
        max_length=60,
        help_text=_("For you, such as “Laptop”. Empty: the comment of the key."),
    )
