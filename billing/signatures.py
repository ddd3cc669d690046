"""
The signature on a provider's webhook, in Stripe's scheme.

The header is `t=<unix seconds>,v1=<hex HMAC-SHA256 of "<t>.<body>">`; several `v1`
stand in it while a secret is being replaced.
"""

import hmac
import re
from collections.abc import Iterable
from datetime import datetime
from hashlib import sha256

TOLERANCE_SECONDS = 300
HEADER_PART = re.compile(r"(t|v1)=([0-9a-f]{1,64})", re.ASCII)


class SignatureInvalid(Exception):
    """
    The body was not signed with one of our secrets in the last five minutes.
    """


def sign(body: bytes, *, secret: str, at: datetime) -> str:
    """
    Return the header that signs `body` at the time `at`.
    """
    seconds = int(at.timestamp())
    return f"t={seconds},v1={_digest(body, secret=secret, seconds=seconds)}"


def verify(body: bytes, *, header: str, secrets: Iterable[str], at: datetime) -> None:
    """
    Check that `header` signs `body` with one of `secrets` around the time `at`.

    A time in the future is refused like one in the past: a signature is good for five
    minutes, not for as long as a sender's clock is wrong.

    :raises SignatureInvalid: if it does not
    """
    times, signatures = _parse(header)
    if len(times) != 1 or not times[0].isdigit():
        raise SignatureInvalid("The header has no time.")
    seconds = int(times[0])
    if abs(at.timestamp() - seconds) > TOLERANCE_SECONDS:
        raise SignatureInvalid("The time is more than five minutes off.")
    expected = [
        _digest(body, secret=secret, seconds=seconds) for secret in secrets if secret
    ]
    if not any(
        hmac.compare_digest(ours, theirs) for ours in expected for theirs in signatures
    ):
        raise SignatureInvalid("No signature matches.")


def _parse(header: str) -> tuple[list[str], list[str]]:
    matches = [HEADER_PART.fullmatch(part.strip()) for part in header.split(",")]
    parts = [match.groups() for match in matches if match]
    times = [value for name, value in parts if name == "t"]
    return times, [value for name, value in parts if name == "v1"]


def _digest(body: bytes, *, secret: str, seconds: int) -> str:
    signed = b"%d." % seconds + body
    return hmac.new(secret.encode(), signed, sha256).hexdigest()
