"""
Read settings from the environment and refuse every value that is not understood.
"""

import os
import re
from collections.abc import Collection
from decimal import Decimal
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured


def text(name: str, default: str | None = None) -> str:
    """
    Return the variable, or the content of the file that `<name>_FILE` names.

    :raises ImproperlyConfigured: if it is missing and has no default, or the file
        cannot be read
    """
    if file_name := os.environ.get(f"{name}_FILE"):
        try:
            return Path(file_name).read_text().strip()
        except OSError as error:
            raise ImproperlyConfigured(f"{name}_FILE: {error}.") from error
    value = os.environ.get(name, default)
    if value is None:
        raise ImproperlyConfigured(f"Set {name} in the environment.")
    return value.strip()


def flag(name: str, *, default: bool) -> bool:
    """
    Return whether the variable says "true" or "false".

    :raises ImproperlyConfigured: if it says anything else
    """
    value = text(name, "true" if default else "false").lower()
    if value not in {"true", "false", "1", "0"}:
        raise ImproperlyConfigured(f"{name} is {value!r}: write true or false.")
    return value in {"true", "1"}


def number(name: str, *, default: int, least: int, most: int) -> int:
    """
    Return the variable as a whole number between `least` and `most`.

    :raises ImproperlyConfigured: if it is no such number
    """
    value = text(name, str(default))
    if not (value.isascii() and value.isdigit()) or not least <= int(value) <= most:
        raise ImproperlyConfigured(
            f"{name} is {value!r}: write a whole number from {least} to {most}."
        )
    return int(value)


def share(name: str, *, default: str) -> Decimal:
    """
    Return the variable as a fraction from 0 to 1, such as 0.10 for ten percent.

    :raises ImproperlyConfigured: if it is no such fraction
    """
    value = text(name, default)
    if not re.fullmatch(r"(0(\.[0-9]{1,4})?|1(\.0{1,4})?)", value):
        raise ImproperlyConfigured(
            f"{name} is {value!r}: write a fraction from 0 to 1, such as 0.10."
        )
    return Decimal(value)


def choice(name: str, *, default: str, options: Collection[str]) -> str:
    """
    Return the variable, which is one of `options`.

    :raises ImproperlyConfigured: if it is none of them
    """
    value = text(name, default)
    if value not in options:
        names = ", ".join(sorted(options))
        raise ImproperlyConfigured(f"{name} is {value!r}: write one of {names}.")
    return value


def words(name: str, default: str = "") -> list[str]:
    """
    Return the comma-separated parts of the variable, without empty ones.
    """
    return [word.strip() for word in text(name, default).split(",") if word.strip()]


def secret(name: str, *, least_length: int, default: str | None = None) -> str:
    """
    Return a secret that is long enough to be one.

    :raises ImproperlyConfigured: if it is shorter than `least_length` characters
    """
    value = text(name, default)
    if len(value) < least_length:
        raise ImproperlyConfigured(
            f"{name} is too short: it needs {least_length} characters or more."
        )
    return value
