"""
The businesses behind the suppliers of the catalog: who they are, whether they were
checked, and which people act for them.
"""

from typing import ClassVar

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Lower
from django.utils.translation import gettext_lazy as _


class Check(models.TextChoices):
    """
    What staff look into before a business may list anything.
    """

    REGISTER = "REGISTER", _("It is in its register under this name and number")
    TAX = "TAX", _("Its tax number is valid")
    PERSON = "PERSON", _("Whoever applied may act for it")


class Company(models.Model):
    """
    A business that applied to rent out nodes; its `state` decides what it may do.

    `passed_checks` holds for the data as they are: new data are checked anew.
    """

    class State(models.TextChoices):
        APPLIED = "APPLIED", _("Being checked")
        ASKED = "ASKED", _("We asked something")
        VERIFIED = "VERIFIED", _("Verified")
        REFUSED = "REFUSED", _("Refused")
        SUSPENDED = "SUSPENDED", _("Suspended")

    supplier = models.OneToOneField(
        "catalog.Supplier",
        models.PROTECT,
        primary_key=True,
        related_name="company",
        verbose_name=_("supplier"),
    )
    legal_name = models.CharField(_("registered name"), max_length=120)
    registration_number = models.CharField(_("registration number"), max_length=40)
    vat_id = models.CharField(_("VAT or tax number"), max_length=20)
    address = models.CharField(_("address"), max_length=300)
    country = models.CharField(_("country"), max_length=2)
    website = models.URLField(_("website"), blank=True)
    contact_name = models.CharField(_("contact person"), max_length=120)
    phone = models.CharField(_("telephone"), max_length=30)
    about = models.TextField(_("what it would list"), max_length=1000)
    state = models.CharField(_("state"), max_length=9, choices=State.choices)
    passed_checks = ArrayField(
        models.CharField(max_length=8, choices=Check.choices),
        verbose_name=_("passed checks"),
        default=list,
        blank=True,
    )
    applied_at = models.DateTimeField(_("applied at"))
    decided_at = models.DateTimeField(_("decided at"), null=True, blank=True)

    objects: ClassVar["models.Manager[Company]"] = models.Manager()

    class Meta:
        verbose_name = _("company")
        verbose_name_plural = _("companies")
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=["APPLIED", "ASKED"], decided_at__isnull=True)
                | Q(
                    state__in=["VERIFIED", "REFUSED", "SUSPENDED"],
                    decided_at__isnull=False,
                ),
                name="company_decided_when_it_says_so",
            ),
        ]

    def __str__(self) -> str:
        return self.legal_name

    @property
    def may_be_changed(self) -> bool:
        """
        Whether its people may still write its data themselves.
        """
        return self.state in {
            self.State.APPLIED,
            self.State.ASKED,
            self.State.REFUSED,
        }


class CompanyEvent(models.Model):
    """
    What happened to a company, by whom and why: added, never changed.
    """

    class Kind(models.TextChoices):
        APPLIED = "APPLIED", _("Applied")
        CHANGED = "CHANGED", _("Data changed, to be checked again")
        PASSED = "PASSED", _("Check passed")
        FAILED = "FAILED", _("Check taken back")
        ASKED = "ASKED", _("Question asked")
        VERIFIED = "VERIFIED", _("Verified")
        REFUSED = "REFUSED", _("Refused")
        SUSPENDED = "SUSPENDED", _("Suspended")
        BANK = "BANK", _("Bank account changed")
        INVITED = "INVITED", _("Person invited")
        JOINED = "JOINED", _("Person joined")
        LEFT = "LEFT", _("Person removed")

    company = models.ForeignKey(
        Company, models.PROTECT, related_name="events", verbose_name=_("company")
    )
    kind = models.CharField(_("what"), max_length=9, choices=Kind.choices)
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.PROTECT,
        related_name="+",
        verbose_name=_("who"),
    )
    detail = models.CharField(_("detail"), max_length=500, blank=True)
    at = models.DateTimeField(_("when"))

    objects: ClassVar["models.Manager[CompanyEvent]"] = models.Manager()

    class Meta:
        verbose_name = _("company event")
        verbose_name_plural = _("company events")

    def __str__(self) -> str:
        return self.get_kind_display()


class SupplierMember(models.Model):
    """
    Somebody who acts for a supplier, or was invited to; a person acts for one only.
    """

    class Role(models.TextChoices):
        OWNER = "OWNER", _("Owner: everything, also people and bank accounts")
        OPERATOR = "OPERATOR", _("Operator: nodes, prices and starts")

    supplier = models.ForeignKey(
        "catalog.Supplier",
        models.PROTECT,
        related_name="members",
        verbose_name=_("supplier"),
    )
    user = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        models.PROTECT,
        null=True,
        blank=True,
        related_name="supplier_member",
        verbose_name=_("user"),
    )
    email = models.EmailField(_("e-mail address"))
    role = models.CharField(_("role"), max_length=8, choices=Role.choices)
    invited_at = models.DateTimeField(_("invited at"))
    joined_at = models.DateTimeField(_("joined at"), null=True, blank=True)

    objects: ClassVar["models.Manager[SupplierMember]"] = models.Manager()

    class Meta:
        verbose_name = _("supplier's person")
        verbose_name_plural = _("supplier's people")
        constraints = [
            models.UniqueConstraint(
                fields=["supplier", "email"], name="suppliermember_unique_email"
            ),
            models.CheckConstraint(
                condition=Q(email=Lower("email")), name="suppliermember_email_lower"
            ),
            models.CheckConstraint(
                condition=Q(user__isnull=True, joined_at__isnull=True)
                | Q(user__isnull=False, joined_at__gte=F("invited_at")),
                name="suppliermember_joined_has_a_user",
            ),
        ]

    def __str__(self) -> str:
        return self.email

    @property
    def is_owner(self) -> bool:
        return self.role == self.Role.OWNER


class StartNotice(models.Model):
    """
    That a supplier was told of a start to confirm: one mail for each set-up.
    """

    workspace = models.ForeignKey(
        "workspaces.Workspace",
        models.PROTECT,
        related_name="start_notices",
        verbose_name=_("workspace"),
    )
    begun_at = models.DateTimeField(_("set-up began at"))
    sent_at = models.DateTimeField(_("sent at"))

    objects: ClassVar["models.Manager[StartNotice]"] = models.Manager()

    class Meta:
        verbose_name = _("start notice")
        verbose_name_plural = _("start notices")
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "begun_at"], name="startnotice_once_a_start"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.workspace_id} {self.begun_at}"
