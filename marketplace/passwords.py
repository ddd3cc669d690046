from typing import TYPE_CHECKING

from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

if TYPE_CHECKING:
    from marketplace.models import User


class SiteNameValidator:
    """
    Refuse passwords with the name of the site: whoever guesses tries it first.
    """

    def validate(self, password: str, user: "User | None" = None) -> None:
        if settings.SITE_NAME.lower() in password.lower():
            raise ValidationError(self.get_help_text(), code="password_has_site_name")

    def get_help_text(self) -> str:
        return _("Your password can't contain the name of this site.")
