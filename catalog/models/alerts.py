"""
Who wants to know when a GPU can be had again.
"""

import uuid
from typing import ClassVar

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from catalog.models.hardware import GpuModel, Region


class StockAlert(models.Model):
    """
    A person's wish to be told when a GPU can be reserved again in a region.

    It is armed while the GPU has been gone since the last mail: one mail is sent for
    each return. Its id is all that a link in a mail needs to end it.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.CASCADE,
        related_name="stock_alerts",
        verbose_name=_("user"),
    )
    gpu = models.ForeignKey(
        GpuModel, models.PROTECT, related_name="+", verbose_name=_("GPU")
    )
    region = models.ForeignKey(
        Region, models.PROTECT, related_name="+", verbose_name=_("region")
    )
    asked_at = models.DateTimeField(_("asked at"))
    is_armed = models.BooleanField(_("waits for a return"), default=True)
    sent_at = models.DateTimeField(_("last mail"), null=True, blank=True)

    objects: ClassVar["models.Manager[StockAlert]"] = models.Manager()

    class Meta:
        verbose_name = _("stock alert")
        verbose_name_plural = _("stock alerts")
        constraints = [
            models.UniqueConstraint(
                fields=["user", "gpu", "region"], name="stockalert_once_per_user"
            ),
        ]

    def __str__(self) -> str:
        return _("Stock alert %(number)s") % {"number": self.pk}
