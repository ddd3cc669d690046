"""
What suppliers say themselves of the nodes that they offer.
"""

from decimal import Decimal
from typing import Any, ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _
from djmoney.money import Money

from catalog.models.offers import Offer


class Listing(models.Model):
    """
    An offer that its supplier lists at its desk: the machine around the GPUs, and terms.

    The offer is on the list while its supplier is verified and the listing neither
    paused nor removed; `catalog.services` keeps `Offer.is_listed` so. The floor is in the
    currency of the ask: no ask below it is taken, whoever writes it.
    """

    offer = models.OneToOneField(
        Offer,
        models.PROTECT,
        primary_key=True,
        related_name="listing",
        verbose_name=_("offer"),
    )
    cpu_cores = models.PositiveSmallIntegerField(_("CPU cores"))
    ram_gb = models.PositiveIntegerField(_("RAM, GB"))
    disk_gb = models.PositiveIntegerField(_("disk, GB"))
    network_gbps = models.DecimalField(
        _("network, Gbit/s"), max_digits=5, decimal_places=1
    )
    cuda_version = models.CharField(
        _("CUDA version"), max_length=8, blank=True, help_text=_("Empty without CUDA.")
    )
    currency = models.CharField(
        _("currency"),
        max_length=3,
        choices=[(code, code) for code in settings.CURRENCIES],
    )
    floor_amount: "models.DecimalField[Any, Any]" = models.DecimalField(
        _("floor per GPU-hour"), max_digits=14, decimal_places=6, null=True, blank=True
    )
    paused_at = models.DateTimeField(_("paused at"), null=True, blank=True)
    removed_at = models.DateTimeField(_("removed at"), null=True, blank=True)

    objects: ClassVar["models.Manager[Listing]"] = models.Manager()

    class Meta:
        verbose_name = _("listing")
        verbose_name_plural = _("listings")
        constraints = [
            models.CheckConstraint(
                condition=Q(
                    cpu_cores__gte=1, ram_gb__gte=1, disk_gb__gte=1, network_gbps__gt=0
                ),
                name="listing_machine_positive",
            ),
            models.CheckConstraint(
                condition=Q(floor_amount__isnull=True) | Q(floor_amount__gt=0),
                name="listing_floor_positive",
            ),
            models.CheckConstraint(
                condition=Q(currency__in=settings.CURRENCIES),
                name="listing_currency_known",
            ),
        ]

    def __str__(self) -> str:
        return _("Listing of offer %(number)s") % {"number": self.pk}

    @property
    def floor(self) -> Money | None:
        if self.floor_amount is None:
            return None
        return Money(Decimal(self.floor_amount), self.currency)

    @property
    def is_wanted(self) -> bool:
        """
        Whether its supplier wants it on the list.
        """
        return self.paused_at is None and self.removed_at is None
