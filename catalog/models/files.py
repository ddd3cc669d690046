"""
Files that staff and suppliers upload, as they were uploaded.
"""

import uuid
from typing import ClassVar

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from catalog.models.offers import Supplier


class Upload(models.Model):
    """
    A CSV file: looked at first, then applied as a whole, once.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = models.CharField(_("name"), max_length=200)
    content = models.TextField(_("content"))
    uploaded_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.PROTECT,
        related_name="+",
        verbose_name=_("uploaded by"),
    )
    uploaded_at = models.DateTimeField(_("uploaded at"))
    applied_at = models.DateTimeField(_("applied at"), null=True, blank=True)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return self.name


class PriceFile(Upload):
    """
    Prices that staff upload.
    """

    objects: ClassVar["models.Manager[PriceFile]"] = models.Manager()

    class Meta:
        verbose_name = _("price file")
        verbose_name_plural = _("price files")


class NodeFile(Upload):
    """
    Nodes that a supplier uploads.
    """

    supplier = models.ForeignKey(
        Supplier, models.PROTECT, related_name="node_files", verbose_name=_("supplier")
    )

    objects: ClassVar["models.Manager[NodeFile]"] = models.Manager()

    class Meta:
        verbose_name = _("node file")
        verbose_name_plural = _("node files")
