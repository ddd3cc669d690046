from typing import Any, ClassVar

from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.models import PermissionsMixin
from django.contrib.auth.password_validation import validate_password
from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from catalog.models import Offer


class UserManager(BaseUserManager["User"]):
    def create_user(
        self, email: str, password: str | None = None, **extra: Any
    ) -> "User":
        """
        Create a person who logs in with this e-mail address.
        """
        user = self.model(email=self.normalize_email(email).lower(), **extra)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(
        self, email: str, password: str | None = None, **extra: Any
    ) -> "User":
        """
        Create who runs the site, as `manage.py createsuperuser` does.

        :raises ValidationError: if the password is easy to guess
        """
        if password is not None:
            validate_password(password, self.model(email=email))
        return self.create_user(
            email, password, is_staff=True, is_superuser=True, **extra
        )


class User(AbstractBaseUser, PermissionsMixin):
    """
    A person with an account, who logs in by e-mail address.
    """

    email = models.EmailField(_("e-mail address"), unique=True)
    name = models.CharField(_("name"), max_length=150, blank=True)
    language = models.CharField(
        _("language"), max_length=8, default="en", choices=settings.LANGUAGES
    )
    currency = models.CharField(
        _("currency"),
        max_length=3,
        default="USD",
        # djmoney sorts the list of settings.CURRENCY_CHOICES by name, in place.
        choices=[(code, code) for code in settings.CURRENCIES],
        help_text=_("The wallet that pages show first."),
    )
    time_zone = models.CharField(_("time zone"), max_length=64, default="UTC")
    is_staff = models.BooleanField(_("staff"), default=False)
    is_active = models.BooleanField(_("active"), default=True)
    date_joined = models.DateTimeField(_("joined"), default=timezone.now)

    objects = UserManager()

    EMAIL_FIELD = "email"
    USERNAME_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    class Meta:
        verbose_name = _("user")
        verbose_name_plural = _("users")
        constraints = [
            models.CheckConstraint(
                condition=Q(email=Lower("email")), name="user_email_lower_case"
            ),
        ]

    def __str__(self) -> str:
        return self.email

    def own_offers(self) -> models.QuerySet[Offer]:
        """
        Return the offers of the supplier for which this person acts.

        Nobody rents from themselves: it would move the price, and nothing else.
        """
        return Offer.objects.filter(supplier__members__user=self)
