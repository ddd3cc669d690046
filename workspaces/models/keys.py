from typing import ClassVar

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from workspaces import ssh


class SshKey(models.Model):
    """
    A public key that opens the machines of its owner which start from now on.
    """

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.CASCADE,
        related_name="ssh_keys",
        verbose_name=_("user"),
    )
    name = models.CharField(_("name"), max_length=60)
    text = models.TextField(_("public key"))
    fingerprint = models.CharField(_("fingerprint"), max_length=60)
    added_at = models.DateTimeField(_("added at"))

    objects: ClassVar["models.Manager[SshKey]"] = models.Manager()

    class Meta:
        verbose_name = _("SSH key")
        verbose_name_plural = _("SSH keys")
        constraints = [
            models.UniqueConstraint(
                fields=["user", "fingerprint"], name="sshkey_once_per_user"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def kind(self) -> str:
        return ssh.KINDS[self.text.split(" ")[0]]
