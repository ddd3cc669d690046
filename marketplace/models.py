from typing import Any, ClassVar

from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.models import PermissionsMixin
from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from djmoney.models.fields import MoneyField
from djmoney.money import Money


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


class LaunchManager(models.Manager["Launch"]):
    def current(self) -> "Launch":
        """
        Return the one row, or an unsaved one while staff have set nothing yet.
        """
        return self.first() or Launch()

    def locked(self) -> "Launch":
        """
        Return the one row, made if need be, locked until the transaction ends.
        """
        self.get_or_create(pk=Launch.THE_ONE)
        return self.select_for_update().get()


class Launch(models.Model):
    """
    When the market opens, and whether it is open: one row, kept by staff.
    """

    THE_ONE = 1

    id = models.PositiveSmallIntegerField(
        primary_key=True, default=THE_ONE, editable=False
    )
    opens_at = models.DateTimeField(_("planned opening"), null=True, blank=True)
    opened_at = models.DateTimeField(_("opened at"), null=True, blank=True)
    paused_at = models.DateTimeField(_("paused at"), null=True, blank=True)
    pause_reason = models.CharField(_("reason"), max_length=200, blank=True)

    objects = LaunchManager()

    class Meta:
        verbose_name = _("launch")
        verbose_name_plural = _("launch")
        constraints = [
            models.CheckConstraint(condition=Q(pk=1), name="launch_only_one"),
            models.CheckConstraint(
                condition=Q(paused_at__isnull=True) | Q(opened_at__isnull=False),
                name="launch_paused_only_when_opened",
            ),
            models.CheckConstraint(
                condition=Q(paused_at__isnull=True, pause_reason="")
                | (Q(paused_at__isnull=False) & ~Q(pause_reason="")),
                name="launch_paused_with_reason",
            ),
        ]

    def __str__(self) -> str:
        return str(self._meta.verbose_name)

    @property
    def is_open(self) -> bool:
        return self.opened_at is not None and self.paused_at is None


class LaunchEvent(models.Model):
    """
    What staff did to the launch, and when: added, never changed.
    """

    class Kind(models.TextChoices):
        PLANNED = "PLANNED", _("Opening planned")
        OPENED = "OPENED", _("Market opened")
        PAUSED = "PAUSED", _("Market paused")
        RESUMED = "RESUMED", _("Market opened again")

    kind = models.CharField(_("what"), max_length=16, choices=Kind)
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        # Whoever opened a market stays known.
        models.PROTECT,
        null=True,
        related_name="+",
        verbose_name=_("who"),
    )
    opens_at = models.DateTimeField(_("planned opening"), null=True)
    reason = models.CharField(_("reason"), max_length=200, blank=True)
    at = models.DateTimeField(_("when"))

    class Meta:
        verbose_name = _("launch event")
        verbose_name_plural = _("launch events")

    def __str__(self) -> str:
        return self.get_kind_display()


class Match(models.Model):
    """
    A request and the offer it got, numbered in the order in which it was decided.

    Who is interrupted, or goes on after a stop, is matched again.
    """

    sequence = models.BigAutoField(_("number"), primary_key=True)
    workspace = models.ForeignKey(
        "workspaces.Workspace",
        models.PROTECT,
        related_name="matches",
        verbose_name=_("workspace"),
    )
    offer = models.ForeignKey(
        "catalog.Offer",
        models.PROTECT,
        related_name="matches",
        verbose_name=_("offer"),
    )
    hourly_price: "models.Field[Money, Money]" = MoneyField(
        _("price per GPU-hour"),
        max_digits=14,
        decimal_places=6,
        default_currency="USD",
        currency_choices=settings.CURRENCY_CHOICES,
        help_text=_("The ask, in the offer's currency."),
    )
    matched_at = models.DateTimeField(_("matched at"))

    objects: ClassVar["models.Manager[Match]"] = models.Manager()

    class Meta:
        verbose_name = _("match")
        verbose_name_plural = _("matches")
        constraints = [
            models.CheckConstraint(
                condition=Q(hourly_price__gt=0), name="match_price_positive"
            ),
        ]
        indexes = [models.Index(fields=["offer", "-sequence"], name="match_offer")]

    def __str__(self) -> str:
        return str(self.pk)
