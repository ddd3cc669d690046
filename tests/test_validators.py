"""
Nothing that people type keeps a process busy: 100 kB at each validator, 50 ms at most.
"""

import time
from contextlib import suppress

import pytest
from django import forms
from django.core.exceptions import ValidationError
from stdnum.exceptions import ValidationError as NoNumber

from billing.signatures import SignatureInvalid, verify
from billing.tax import parse_vat_id
from catalog.fit.config_file import ConfigNotUnderstood, read_config
from config.logs import masked
from csv_files import csv_lines
from marketplace import forms as site_forms
from marketplace.models import User
from marketplace.passwords import NotPersonalValidator, SiteNameValidator
from money import parse_amount
from tests.conftest import SIGNED_UP_AT
from workspaces.ssh import KeyRefused, read_public_key

# It walks over what other tests count, and counting takes half its time.
pytestmark = pytest.mark.no_cover

SIZE = 100_000
HOSTILE = {
    "digits": "1" * SIZE,
    "blanks": " " * SIZE + "x",
    "points": "1." * (SIZE // 2),
    "addresses": "a@" * (SIZE // 2),
    "slashes": "https://" + "a/" * (SIZE // 2),
    "letters": "é" * (SIZE // 2),
    "brackets": "[" * SIZE,
    "quotes": '"' * SIZE,
    "breaks": "\n" * SIZE,
    "key": "ssh-ed25519 " + "A" * SIZE,
    "secrets": "whsec_" * (SIZE // 6),
    "signature": "t=1," + "v1=" * (SIZE // 3),
}
REFUSALS = (
    ValidationError,
    ValueError,
    NoNumber,
    SignatureInvalid,
    ConfigNotUnderstood,
    KeyRefused,
)


def field(kind, **options):
    return kind(**options).clean


def zones(text):
    return site_forms.ProfileForm.base_fields["time_zone"].clean(text)


def signature(text):
    verify(b"{}", header=text, secrets=["whsec"], at=SIGNED_UP_AT)


VALIDATORS = {
    "amount": parse_amount,
    "VAT number": lambda text: parse_vat_id(text, country="DE"),
    "SSH key": read_public_key,
    "config.json": read_config,
    "signature": signature,
    "password": SiteNameValidator().validate,
    "password like the address": lambda text: NotPersonalValidator().validate(
        text, User(email=f"{'a' * 200}@example.com", name="a" * 150)
    ),
    "time zone": zones,
    "e-mail": field(forms.EmailField),
    "address": field(forms.URLField, assume_scheme="https"),
    "log": masked,
    "CSV": lambda text: list(csv_lines([text], [[text]])),
}


@pytest.mark.parametrize("name", VALIDATORS)
def test_a_validator_is_done_with_100_kb_at_once(name):
    # The first call of a process loads modules and texts.
    with suppress(REFUSALS):
        VALIDATORS[name]("1")

    for kind, text in HOSTILE.items():
        began = time.process_time()
        with suppress(REFUSALS):
            VALIDATORS[name](text)
        assert time.process_time() - began < 0.05, kind
