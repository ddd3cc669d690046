"""
From the speed of a pilot run to the cost of an accepted checkpoint.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import ROUND_UP, Decimal

from django.utils.translation import gettext as _
from djmoney.money import Money

from billing import services as billing
from catalog import costs
from catalog.asks import Ask
from catalog.best_asks import best_asks_of
from catalog.costs import PLANNING_WINDOWS, Cost, Pilot
from catalog.models import GpuModel, StoragePlan


class NoLiveAsk(Exception):
    """
    Nobody offers such a node now; the message says what to do.
    """


@dataclass(frozen=True, kw_only=True)
class WantedPilot:
    """
    What was measured, and what is still to be run.

    The speed is that of all GPUs together; `failed_share` is the share of runs that
    are thrown away, each with its evaluation.
    """

    tokens_per_second: Decimal
    dataset_tokens: int
    epochs: Decimal
    evaluation_hours: Decimal
    failed_share: Decimal
    gpu: GpuModel
    gpus: int
    storage_gb: int
    kept_days: int
    currency: str


@dataclass(frozen=True, kw_only=True)
class PilotCost:
    """
    Hours and cost up to an accepted checkpoint, in the currency that was asked for.

    `window_hours` is the smallest planning window that covers it, or the next whole
    hour beyond them all; `window` is what that window costs, storage included.
    """

    wanted: WantedPilot
    pilot: Pilot
    ask: Ask
    rate: Money
    rate_as_of: datetime | None
    storage_plan: StoragePlan | None
    storage_rate: Money | None
    window_hours: int
    window: Cost

    @property
    def training(self) -> timedelta:
        return timedelta(seconds=self.pilot.training_seconds)

    @property
    def evaluation(self) -> timedelta:
        return timedelta(seconds=self.pilot.evaluation_seconds)

    @property
    def failed(self) -> timedelta:
        return timedelta(seconds=self.pilot.failed_seconds)

    @property
    def total(self) -> timedelta:
        return timedelta(seconds=self.pilot.total_seconds)

    @property
    def unused(self) -> timedelta:
        return timedelta(hours=self.window_hours) - self.total

    @property
    def lines(self) -> list[dict[str, str | Money]]:
        """
        The lines of the receipt.
        """
        cost = self.pilot.cost
        lines: list[dict[str, str | Money]] = [
            {"label": _("Compute"), "amount": cost.compute},
            {"label": _("Storage while it runs"), "amount": cost.storage},
            {"label": _("Storage kept after the end"), "amount": cost.kept_storage},
        ]
        return [line for line in lines if line["amount"] or line is lines[0]]


def cost_of_pilot(wanted: WantedPilot, *, at: datetime) -> PilotCost:
    """
    Price a pilot at the best live ask, converted at the newest day's rate.

    :raises NoLiveAsk: if no node with so many of these GPUs is offered
    :raises billing.services.NoExchangeRate: if a price cannot be converted
    """
    ask = _best_ask(wanted, at)
    converted = billing.convert(amount=ask.rate, currency=wanted.currency, at=at)
    plan = _storage_plan(wanted)
    priced = _Priced(
        rate=converted.amount,
        gpus=wanted.gpus,
        storage_gb=wanted.storage_gb if plan else 0,
        storage_rate=_in_currency(plan, wanted.currency, at) if plan else None,
        kept_days=wanted.kept_days if plan else 0,
    )
    pilot = costs.pilot(
        measured_tokens_per_second=wanted.tokens_per_second,
        dataset_tokens=wanted.dataset_tokens,
        epochs=wanted.epochs,
        evaluation_hours=wanted.evaluation_hours,
        failed_share=wanted.failed_share,
        **vars(priced),
    )
    hours = _window_hours(pilot)
    return PilotCost(
        wanted=wanted,
        pilot=pilot,
        ask=ask,
        rate=converted.amount,
        rate_as_of=converted.as_of if converted.rate != 1 else None,
        storage_plan=plan,
        storage_rate=priced.storage_rate,
        window_hours=hours,
        window=costs.cost_window(hours=hours, **vars(priced)),
    )


@dataclass(frozen=True, kw_only=True)
class _Priced:
    """
    What the pilot and its window are priced with, as `catalog.costs` takes it.
    """

    rate: Money
    gpus: int
    storage_gb: int
    storage_rate: Money | None
    kept_days: int


def _best_ask(wanted: WantedPilot, at: datetime) -> Ask:
    asks = best_asks_of(gpu_id=wanted.gpu.pk, at=at, gpus=wanted.gpus)
    if not asks:
        raise NoLiveAsk(
            _("Nobody offers a node with so many of these GPUs now. Choose others.")
        )
    return asks[0]


def _storage_plan(wanted: WantedPilot) -> StoragePlan | None:
    if not wanted.storage_gb:
        return None
    plans = StoragePlan.objects.filter(is_listed=True, is_persistent=True)
    return plans.order_by("position", "pk").first()


def _in_currency(plan: StoragePlan, currency: str, at: datetime) -> Money:
    price: Money = plan.monthly_price
    return billing.convert(amount=price, currency=currency, at=at).amount


def _window_hours(pilot: Pilot) -> int:
    covering = [hours for hours in PLANNING_WINDOWS if hours >= pilot.hours]
    return covering[0] if covering else int(pilot.hours.to_integral_value(ROUND_UP))
