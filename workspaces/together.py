"""
What the fields of a request have to say to each other.

Each check names the field to change and says in a sentence what is wrong with it.
It is skipped while one of the values it needs is not understood yet.
"""

import re
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

import formats
from catalog.models import Image, Method
from catalog.names import plan_name
from workspaces.models import KeptAtEnd
from workspaces.sizes import least_storage_gb

COMMIT = re.compile(r"[0-9a-f]{40}")
SHORT_COMMIT = re.compile(r"[0-9a-f]{7,39}")
TAG = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]*")
BRANCHES = {"main", "master", "head", "latest"}

Values = dict[str, Any]
Fault = tuple[str, str]


def faults(values: Values, *, at: datetime) -> Iterator[Fault]:
    """
    Yield every field that does not go with the others, and why.
    """
    for names, check in CHECKS:
        if all(values.get(name) is not None for name in names):
            yield from check(values)
    deadline = values.get("start_deadline")
    if deadline is not None and deadline <= at:
        yield "start_deadline", _("This moment is over. Choose a later one.")


def _revision(values: Values) -> Iterator[Fault]:
    revision = values["revision"]
    if COMMIT.fullmatch(revision):
        return
    if revision.lower() in BRANCHES:
        yield (
            "revision",
            _("“%(name)s” is a branch: it can change. Write a commit hash or a tag.")
            % {"name": revision},
        )
    elif SHORT_COMMIT.fullmatch(revision):
        yield "revision", _("Write all 40 characters of the commit hash.")
    elif not TAG.fullmatch(revision):
        yield (
            "revision",
            _("Write a commit hash of 40 characters, or a tag without spaces."),
        )


def _rank(values: Values) -> Iterator[Fault]:
    if values["method"] != Method.FULL and values.get("lora_rank") is None:
        yield "lora_rank", _("LoRA and QLoRA need a rank, for example 16.")


def _image(values: Values) -> Iterator[Fault]:
    image, method = values["image"], values["method"]
    if method in image.methods:
        return
    others = Image.objects.filter(is_listed=True, methods__contains=[method])
    yield (
        "image",
        _("%(image)s has no library for %(method)s. These have one: %(others)s.")
        % {
            "image": image.name,
            "method": Method(method).label,
            "others": ", ".join(
                others.order_by("position").values_list("name", flat=True)
            ),
        },
    )


def _sequence_length(values: Values) -> Iterator[Fault]:
    model = values["base_model"]
    longest = model.max_position_embeddings
    if longest is not None and values["sequence_length"] > longest:
        yield (
            "sequence_length",
            _("%(model)s reads %(longest)s tokens at most.")
            % {"model": model.name, "longest": _number(longest)},
        )


def _storage(values: Values) -> Iterator[Fault]:
    least = least_storage_gb(
        architecture=values["base_model"].architecture(),
        method=values["method"],
        lora_rank=values.get("lora_rank"),
        checkpoints_kept=values["checkpoints_kept"],
    )
    if values["storage_gb"] < least:
        yield (
            "storage_gb",
            _(
                "The model and its kept checkpoints need %(least)s GB at least, before"
                " your data. Take more storage or keep fewer checkpoints."
            )
            % {"least": _number(least)},
        )


def _kept_days(values: Values) -> Iterator[Fault]:
    plan, days = values["storage_plan"], values["kept_days"]
    if days <= plan.kept_days_after:
        return
    if plan.kept_days_after:
        message = _("“%(plan)s” keeps data for %(days)s days at most.")
    else:
        message = _(
            "“%(plan)s” keeps nothing after the end: write 0, or change the plan."
        )
    days = _number(plan.kept_days_after)
    yield "kept_days", message % {"plan": plan_name(plan), "days": days}


def _kept_at_end(values: Values) -> Iterator[Fault]:
    if values["kept_days"] and values["kept_at_end"] == KeptAtEnd.NOTHING:
        yield (
            "kept_at_end",
            _("You pay for days after the end: say what to keep, or write 0 days."),
        )


def _number(value: int) -> str:
    return formats.number(value, formats.language())


CHECKS: list[tuple[tuple[str, ...], Callable[[Values], Iterator[Fault]]]] = [
    (("revision",), _revision),
    (("method",), _rank),
    (("image", "method"), _image),
    (("base_model", "sequence_length"), _sequence_length),
    (("base_model", "method", "checkpoints_kept", "storage_gb"), _storage),
    (("storage_plan", "kept_days"), _kept_days),
    (("kept_days", "kept_at_end"), _kept_at_end),
]
