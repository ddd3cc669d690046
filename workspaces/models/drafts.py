"""
A request that is still being written: nothing is checked and no money is held.
"""

import uuid
from typing import ClassVar

from django.conf import settings
from django.db import models
from django.urls import reverse
from django.utils.translation import gettext_lazy as _


class Draft(models.Model):
    """
    What was typed into the request form, word for word: a list of text per field.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.CASCADE,
        related_name="drafts",
        verbose_name=_("user"),
    )
    name = models.CharField(_("name"), max_length=120)
    typed = models.JSONField(_("what was typed"), default=dict)
    saved_at = models.DateTimeField(_("saved at"))

    objects: ClassVar["models.Manager[Draft]"] = models.Manager()

    class Meta:
        verbose_name = _("draft")
        verbose_name_plural = _("drafts")

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return f"{reverse('workspaces:request')}?draft={self.pk}"
