"""
Keys are made by the cryptography library; fingerprints are compared with ssh-keygen's
rule: the SHA-256 of the data, in base 64 without padding.
"""

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from django.urls import reverse

from tests.workspaces.conftest import ADDRESS, NOON
from workspaces import services, ssh
from workspaces.models import SshKey
from workspaces.ssh import AddressRefused, KeyRefused

KEYS = reverse("workspaces:keys")
# ssh-keygen -lf: 256 SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU (ED25519)
GITHUB = (
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl"
)
GITHUB_FINGERPRINT = "SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU"


def public(key):
    return (
        key.public_key()
        .public_bytes(
            serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH
        )
        .decode()
    )


def private(key):
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.OpenSSH,
        serialization.NoEncryption(),
    ).decode()


def test_reads_a_key_with_its_comment_and_fingerprint():
    key = ssh.read_public_key(f"  {GITHUB} me@laptop\n")

    assert (key.text, key.comment, key.kind) == (GITHUB, "me@laptop", "Ed25519")
    assert key.fingerprint == GITHUB_FINGERPRINT


@pytest.mark.parametrize(
    ("made", "kind"),
    [
        (ed25519.Ed25519PrivateKey.generate, "Ed25519"),
        (lambda: ec.generate_private_key(ec.SECP384R1()), "ECDSA"),
        (lambda: rsa.generate_private_key(65537, 3072), "RSA"),
    ],
)
def test_takes_every_strong_kind(made, kind):
    assert ssh.read_public_key(public(made())).kind == kind


@pytest.mark.parametrize(
    ("pasted", "says"),
    [
        ("ssh-dss AAAAB3NzaC1kc3MAAACBAP", "DSA keys are not safe"),
        ("PuTTY-User-Key-File-3: ssh-ed25519", "This is a private key"),
        ("---- BEGIN SSH2 PUBLIC KEY ----", "Convert the file"),
        (f"{GITHUB}\n{GITHUB}", "a single line"),
        (GITHUB[:-9], "damaged"),
        (GITHUB.replace("ssh-ed25519", "ssh-rsa"), "damaged"),
        (f'command="rm -rf /" {GITHUB}', "not a public key"),
        ("ssh-ed25519", "not a public key"),
        ("ssh-ed25519-cert-v01@openssh.com AAAA", "not a public key"),
        ("hello", "not a public key"),
        ("", "not a public key"),
    ],
)
def test_refuses_what_is_weak_or_something_else(pasted, says):
    with pytest.raises(KeyRefused, match=says):
        ssh.read_public_key(pasted)


def test_refuses_a_short_key():
    with pytest.raises(KeyRefused, match="2048 bits"):
        ssh.read_public_key(public(rsa.generate_private_key(65537, 2048)))


def test_refuses_a_private_key():
    with pytest.raises(KeyRefused, match="This is a private key"):
        ssh.read_public_key(private(ed25519.Ed25519PrivateKey.generate()))


@pytest.mark.parametrize(
    ("user", "host", "port", "address"),
    [
        ("root", "10.0.0.7", 22022, ADDRESS),
        ("ubuntu", "Node-7.example.com", 22, "ubuntu@node-7.example.com:22"),
        ("root", "2001:db8::7", 22, "root@2001:db8::7:22"),
    ],
)
def test_writes_addresses(user, host, port, address):
    assert ssh.address_of(user=user, host=host, port=port) == address


@pytest.mark.parametrize(
    ("user", "host", "port"),
    [
        ("root; reboot", "10.0.0.7", 22),
        ("-oProxyCommand=x", "10.0.0.7", 22),
        ("root", "https://example.com", 22),
        ("root", "a b", 22),
        ("root", "$(reboot)", 22),
        ("root", "-x", 22),
        ("root", "", 22),
        ("root", "10.0.0.7", 70000),
    ],
)
def test_refuses_addresses_that_are_none(user, host, port):
    with pytest.raises(AddressRefused):
        ssh.address_of(user=user, host=host, port=port)


# --- the page


def test_a_key_is_added_once(renter_client, renter):
    for _time in range(2):
        response = renter_client.post(KEYS, {"pasted": f"{GITHUB} laptop", "name": ""})
        assert response.status_code == 302

    key = SshKey.objects.get()
    assert (key.user, key.name, key.text) == (renter, "laptop", GITHUB)
    assert GITHUB_FINGERPRINT in renter_client.get(KEYS).content.decode()


def test_a_private_key_is_neither_stored_nor_shown(renter_client):
    pasted = private(ed25519.Ed25519PrivateKey.generate())

    response = renter_client.post(KEYS, {"pasted": pasted, "name": "laptop"})

    page = response.content.decode()
    assert response.status_code == 422
    assert "This is a private key" in page
    assert pasted.splitlines()[1] not in page
    assert not SshKey.objects.exists()


def test_what_was_typed_stays(renter_client):
    response = renter_client.post(KEYS, {"pasted": "ssh-dss AAAA", "name": "laptop"})

    assert response.status_code == 422
    assert "ssh-dss AAAA" in response.content.decode()


def test_a_key_is_removed_by_its_owner_alone(renter_client, stranger_client, renter):
    key = services.add_key(user=renter, pasted=GITHUB, name="", at=NOON)
    remove = reverse("workspaces:remove_key", args=[key.pk])

    assert stranger_client.post(remove).status_code == 404
    assert SshKey.objects.exists()
    assert renter_client.post(remove).status_code == 302
    assert not SshKey.objects.exists()


def test_an_account_has_20_keys_at_most(renter):
    SshKey.objects.bulk_create(
        SshKey(user=renter, name="k", text=GITHUB, fingerprint=str(n), added_at=NOON)
        for n in range(20)
    )

    with pytest.raises(KeyRefused, match="20 keys"):
        services.add_key(user=renter, pasted=GITHUB, name="", at=NOON)


def test_who_has_no_key_is_told_before_the_machine_starts(
    renter_client, renter, funded, make_quote, time_machine
):
    time_machine.move_to(NOON, tick=False)
    pages = [make_quote().get_absolute_url(), funded.get_absolute_url()]

    warned = [
        "You have no SSH key" in renter_client.get(page).content.decode()
        for page in pages
    ]
    services.add_key(user=renter, pasted=GITHUB, name="Laptop", at=NOON)

    assert warned == [True, True]
    for page in pages:
        assert b"You have no SSH key" not in renter_client.get(page).content


def test_the_page_of_a_running_machine_says_how_to_connect(
    renter_client, provisioning, renter, time_machine
):
    time_machine.move_to(NOON, tick=False)
    services.add_key(user=renter, pasted=GITHUB, name="Laptop", at=NOON)
    running = services.start_workspace(
        workspace_id=provisioning.pk, address=ADDRESS, host_key=GITHUB, at=NOON
    )

    page = renter_client.get(running.get_absolute_url()).content.decode()

    for words in (
        "ssh -p 22022 root@10.0.0.7",
        GITHUB_FINGERPRINT,
        "Laptop",
        "/workspace/checkpoints",
        "does not stop the bill",
    ):
        assert words in page
