"""
The rules for passwords. Django's own say "your password can't …", four times.
"""

from typing import TYPE_CHECKING

from django.conf import settings
from django.contrib.auth.password_validation import (
    CommonPasswordValidator,
    MinimumLengthValidator,
    UserAttributeSimilarityValidator,
)
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

if TYPE_CHECKING:
    from marketplace.models import User


class SiteNameValidator:
    """
    Refuse passwords with the name of the site: whoever guesses tries it first.
    """

    def validate(self, password: str, user: "User | None" = None) -> None:
        if settings.SITE_NAME.lower() in password.lower():
            raise ValidationError(
                _("This password contains the name of this site."),
                code="password_has_site_name",
            )

    def get_help_text(self) -> str:
        return _("Without the name of this site.")


class NotPersonalValidator(UserAttributeSimilarityValidator):
    def get_help_text(self) -> str:
        return _("Not like your name or e-mail address.")


class LengthValidator(MinimumLengthValidator):
    def get_help_text(self) -> str:
        return ngettext(
            "At least %(least)d character; a sentence is easy to remember.",
            "At least %(least)d characters; a sentence is easy to remember.",
            self.min_length,
        ) % {"least": self.min_length}


class NotCommonValidator(CommonPasswordValidator):
    def get_help_text(self) -> str:
        return _("None of the passwords that everybody uses.")
