"""
What is another one in a quote than in the one before it, field by field.
"""

from collections.abc import Callable
from dataclasses import dataclass

from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from djmoney.money import Money

import formats
from catalog.models import Region
from catalog.names import plan_name, region_name
from workspaces.models import Quote


@dataclass(frozen=True)
class Change:
    label: str | Promise
    before: str
    after: str


def changes_between(before: Quote, after: Quote) -> list[Change]:
    """
    Return every field that a reader would see another value of.
    """
    fields = (Change(label, said(before), said(after)) for label, said in FIELDS)
    return [field for field in fields if field.before != field.after]


def _rate(price: Money | None) -> str:
    return formats.rate(price, formats.language()) if price is not None else _("none")


def _money(amount: Money) -> str:
    return formats.money(amount, formats.language())


def _number(value: int | None) -> str:
    return formats.number(value, formats.language()) if value is not None else "–"


def _gigabytes(quote: Quote) -> str:
    return formats.gigabytes(quote.storage_gb, formats.language())


def _supplier(quote: Quote) -> str:
    if quote.offer is None:
        return _("nobody")
    return f"{quote.offer.supplier.name}, {region_name(quote.offer.region)}"


def _regions(quote: Quote) -> str:
    regions = Region.objects.filter(slug__in=quote.regions)
    return ", ".join(sorted(region_name(region) for region in regions))


def _exchange(quote: Quote) -> str:
    rates = sorted(quote.exchange_rates.items())
    return ", ".join(f"{code} {rate}" for code, rate in rates)


def _day(quote: Quote) -> str:
    deadline = quote.start_deadline
    if deadline is None:
        return "–"
    return formats.day(deadline, formats.language(), timezone.get_current_timezone())


FIELDS: list[tuple[str | Promise, Callable[[Quote], str]]] = [
    (gettext_lazy("Held, ex tax"), lambda quote: _money(quote.hold_amount)),
    (gettext_lazy("GPU, at most"), lambda quote: _money(quote.compute_cost)),
    (
        gettext_lazy("Storage while running"),
        lambda quote: _money(quote.storage_cost),
    ),
    (
        gettext_lazy("Storage kept after the end"),
        lambda quote: _money(quote.kept_cost),
    ),
    (gettext_lazy("Best ask per GPU-hour"), lambda quote: _rate(quote.ask)),
    (
        gettext_lazy("Price limit per GPU-hour"),
        lambda quote: _rate(quote.limit_price),
    ),
    (gettext_lazy("Cheapest supplier"), _supplier),
    (
        gettext_lazy("Storage, per GB and 730 h"),
        lambda quote: _rate(quote.storage_rate),
    ),
    (gettext_lazy("Exchange rates"), _exchange),
    (gettext_lazy("Will it fit?"), lambda quote: str(quote.get_verdict_display())),
    (gettext_lazy("Base model"), lambda quote: str(quote.base_model)),
    (gettext_lazy("Revision"), lambda quote: quote.revision),
    (gettext_lazy("Method"), lambda quote: str(quote.get_method_display())),
    (
        gettext_lazy("Sequence length"),
        lambda quote: _number(quote.sequence_length),
    ),
    (gettext_lazy("Micro-batch"), lambda quote: _number(quote.micro_batch)),
    (gettext_lazy("LoRA rank"), lambda quote: _number(quote.lora_rank)),
    (
        gettext_lazy("Gradient checkpointing"),
        lambda quote: _("on") if quote.is_checkpointing else _("off"),
    ),
    (gettext_lazy("Loss"), lambda quote: str(quote.get_loss_kernel_display())),
    (gettext_lazy("Optimizer"), lambda quote: str(quote.get_optimizer_display())),
    (gettext_lazy("Image"), lambda quote: str(quote.image)),
    (gettext_lazy("GPU"), lambda quote: f"{_number(quote.gpus)} × {quote.gpu}"),
    (gettext_lazy("Regions"), _regions),
    (gettext_lazy("Hours"), lambda quote: _number(quote.hours)),
    (gettext_lazy("Storage plan"), lambda quote: plan_name(quote.storage_plan)),
    (gettext_lazy("Storage"), _gigabytes),
    (
        gettext_lazy("Days kept after the end"),
        lambda quote: _number(quote.kept_days),
    ),
    (
        gettext_lazy("A checkpoint every … minutes"),
        lambda quote: _number(quote.checkpoint_minutes),
    ),
    (gettext_lazy("Checkpoints kept"), lambda quote: _number(quote.checkpoints_kept)),
    (
        gettext_lazy("Keep at the end"),
        lambda quote: str(quote.get_kept_at_end_display()),
    ),
    (gettext_lazy("Start no later than"), _day),
]
