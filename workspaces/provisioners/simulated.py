"""
Machines that do not exist: ready after a while, at an address that leads nowhere.

How long that takes and what goes wrong follows from SIMULATED_SEED, the workspace and
the offer alone: whoever asks again gets the same answer.
"""

import hashlib
from datetime import datetime, timedelta

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from django.conf import settings

from workspaces.models import Workspace
from workspaces.provisioner import (
    Failed,
    Late,
    Observation,
    Pending,
    Progress,
    Ready,
)

PORT = 22022
FAILURE = "The simulated machine did not boot."


def check(workspace: Workspace, *, at: datetime) -> Progress:
    """
    Say that it is ready once its set-up took its time, unless that is to go wrong.
    """
    begun_at = workspace.provisioning_at
    if begun_at is None or at < begun_at + _takes(workspace):
        return Pending()
    luck = _drawn(workspace, "luck") % 100
    if luck < settings.SIMULATED_FAILURE_PERCENT:
        return Failed(FAILURE)
    if luck < settings.SIMULATED_FAILURE_PERCENT + settings.SIMULATED_LATE_PERCENT:
        return Late()
    assert workspace.offer is not None
    # The top-level domain .invalid is reserved: the name can never be somebody's.
    host = f"{workspace.code.lower()}.{workspace.offer.region.slug}.invalid"
    return Ready(address=f"root@{host}:{PORT}", host_key=_host_key(workspace))


def observe(workspace: Workspace, *, at: datetime) -> Observation | None:
    """
    A machine that does not exist is always up, and nobody knows what it does.
    """
    return Observation()


def _takes(workspace: Workspace) -> timedelta:
    spread = settings.SIMULATED_PROVISIONING_SPREAD_SECONDS
    more = _drawn(workspace, "delay") % (spread + 1)
    return timedelta(seconds=settings.SIMULATED_PROVISIONING_SECONDS + more)


def _host_key(workspace: Workspace) -> str:
    private = Ed25519PrivateKey.from_private_bytes(_digest(workspace, "host key"))
    public = private.public_key()
    return public.public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()


def _drawn(workspace: Workspace, what: str) -> int:
    return int.from_bytes(_digest(workspace, what)[:8], "big")


def _digest(workspace: Workspace, what: str) -> bytes:
    told = f"{settings.SIMULATED_SEED}:{workspace.pk}:{workspace.offer_id}:{what}"
    return hashlib.sha256(told.encode()).digest()
