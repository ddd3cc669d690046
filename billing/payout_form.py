from django import forms
from django.utils.translation import gettext_lazy as _


class ReturnForm(forms.Form):
    """
    Why the bank sent a payout back.
    """

    reason = forms.CharField(label=_("Why the bank sent it back"), max_length=200)
