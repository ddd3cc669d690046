"""
The public keys of a person.
"""

from datetime import datetime
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils.translation import gettext as _

from workspaces import ssh
from workspaces.models import SshKey

if TYPE_CHECKING:
    from marketplace.models import User

MOST_KEYS = 20


@transaction.atomic
def add_key(*, user: "User", pasted: str, name: str, at: datetime) -> SshKey:
    """
    Add a public key; one that is there already is returned as it is.

    :raises workspaces.ssh.KeyRefused: if it is no public key or too weak, or if the
        user has 20 already
    """
    key = ssh.read_public_key(pasted)
    keys = SshKey.objects.filter(user=user)
    found = keys.filter(fingerprint=key.fingerprint).first()
    if found is not None:
        return found
    if keys.count() >= MOST_KEYS:
        raise ssh.KeyRefused(_("You have 20 keys. Remove one that you do not use."))
    added, _is_new = SshKey.objects.get_or_create(
        user=user,
        fingerprint=key.fingerprint,
        defaults={
            "name": (name.strip() or key.comment or key.kind)[:60],
            "text": key.text,
            "added_at": at,
        },
    )
    return added
