"""
allauth's forms with labels in our words, where its own are missing or untranslated.
"""

from typing import Any

from allauth.account.forms import AddEmailForm, LoginForm
from allauth.mfa.webauthn.forms import AddWebAuthnForm, EditWebAuthnForm
from django.utils.translation import gettext_lazy as _


class LogInForm(LoginForm):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["remember"].label = _("Stay logged in in this browser")


class NewAddressForm(AddEmailForm):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["email"].label = _("New e-mail address")


class NewKeyForm(AddWebAuthnForm):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["name"].label = _("Name")
        alone = self.fields["passwordless"]
        alone.label = _("Log in with it alone, without the password")
        alone.help_text = _("It then asks for your finger, your face or its PIN.")


class KeyNameForm(EditWebAuthnForm):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["name"].label = _("Name")
