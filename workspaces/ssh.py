"""
SSH: public keys that people paste, host keys, and addresses; pure.

Whether a key is one is decided by the cryptography library, never by its look.
"""

import base64
import hashlib
import ipaddress
import re
from dataclasses import dataclass

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.serialization import load_ssh_public_key
from django.utils.translation import gettext as _

LEAST_RSA_BITS = 3072
KINDS = {
    "ssh-ed25519": "Ed25519",
    "ssh-rsa": "RSA",
    "ecdsa-sha2-nistp256": "ECDSA",
    "ecdsa-sha2-nistp384": "ECDSA",
    "ecdsa-sha2-nistp521": "ECDSA",
    "sk-ssh-ed25519@openssh.com": "Ed25519-SK",
    "sk-ecdsa-sha2-nistp256@openssh.com": "ECDSA-SK",
}
USER = re.compile(r"[a-z_][a-z0-9_-]{0,31}")
HOST = re.compile(
    r"(?=.{1,150}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*"
)


class KeyRefused(Exception):
    """
    What was pasted is not a public key that is taken; the message says what to do.
    """


class AddressRefused(Exception):
    """
    This cannot be the address of a machine; the message says how to write one.
    """


@dataclass(frozen=True, kw_only=True)
class PublicKey:
    """
    A public key: `text` is its kind and its data, without a comment.
    """

    text: str
    comment: str

    @property
    def kind(self) -> str:
        return KINDS[self.text.split(" ")[0]]

    @property
    def fingerprint(self) -> str:
        """
        Return what `ssh-keygen -l` shows: the SHA-256 of the data, in base 64.
        """
        return fingerprint_of(self.text)


def fingerprint_of(text: str) -> str:
    """
    Return the fingerprint of a public key that was read before.
    """
    digest = hashlib.sha256(base64.b64decode(text.split(" ")[1])).digest()
    return "SHA256:" + base64.b64encode(digest).decode().rstrip("=")


def read_public_key(pasted: str) -> PublicKey:
    """
    Return the public key in one line of an authorized_keys or .pub file.

    :raises KeyRefused: if it is none, or too weak
    """
    line = pasted.strip()
    _refuse_what_it_is_not(line)
    kind, data, comment = _parts(line)
    try:
        key = load_ssh_public_key(f"{kind} {data}".encode())
    except (ValueError, UnsupportedAlgorithm) as error:
        raise KeyRefused(
            _("This key is damaged. Copy the whole line of the .pub file.")
        ) from error
    if isinstance(key, RSAPublicKey) and key.key_size < LEAST_RSA_BITS:
        raise KeyRefused(
            _(
                "This RSA key has %(bits)s bits, which is too weak: 3072 are the least."
                " Make an Ed25519 key: ssh-keygen -t ed25519"
            )
            % {"bits": key.key_size}
        )
    return PublicKey(text=f"{kind} {data}", comment=comment)


def _refuse_what_it_is_not(line: str) -> None:
    if "PRIVATE KEY" in line or line.startswith("PuTTY-User-Key-File"):
        raise KeyRefused(
            _(
                "This is a private key. It was not stored, but it has left your machine:"
                " make a new pair, and paste the file that ends in .pub."
            )
        )
    if line.startswith("---- BEGIN SSH2 PUBLIC KEY"):
        raise KeyRefused(
            _("This is another format. Convert the file with: ssh-keygen -i -f key.pub")
        )
    if "\n" in line or "\r" in line:
        raise KeyRefused(_("Paste one key: a single line."))


def _parts(line: str) -> tuple[str, str, str]:
    kind, _space, rest = line.partition(" ")
    data, _space, comment = rest.strip().partition(" ")
    if kind == "ssh-dss":
        raise KeyRefused(
            _(
                "DSA keys are not safe, and SSH no longer takes them. Make an Ed25519"
                " key: ssh-keygen -t ed25519"
            )
        )
    if kind not in KINDS or not data:
        raise KeyRefused(
            _(
                "This is not a public key. It is one line that begins with ssh-ed25519,"
                " ssh-rsa or ecdsa-sha2, from a file that ends in .pub."
            )
        )
    return kind, data, comment.strip()


def address_of(*, user: str, host: str, port: int) -> str:
    """
    Return user@host:port.

    :raises AddressRefused: if one of them could not be true
    """
    if not USER.fullmatch(user):
        raise AddressRefused(_("Write the name of a user, for example root."))
    host = host.strip().lower()
    if not (HOST.fullmatch(host) or _is_ip(host)):
        raise AddressRefused(
            _("Write a host name or an IP address, without a port and without https.")
        )
    if not 1 <= port <= 65535:
        raise AddressRefused(_("A port is a number from 1 to 65535."))
    return f"{user}@{host}:{port}"


def _is_ip(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
