"""
What would come of many new prices at once: looked at before anything is saved.

A grid, an uploaded file and a command all say what they want as `Line`s. A plan holds
each of them against the offer it names, its versions and what the GPU costs elsewhere;
it reads the database in a few queries, however many lines there are.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any, NamedTuple

from django.db.models import Q
from django.utils.translation import gettext as _
from djmoney.money import Money

from catalog.models import Offer, OfferPrice, PriceProposal
from catalog.price_bounds import (
    RATE_PLACES,
    Medians,
    PriceNotMeant,
    PriceRefused,
    check,
    recent_medians,
)
from money import round_half_up


class Outcome(StrEnum):
    ADDED = "added"
    CHANGED = "changed"
    WAITING = "waiting"
    UNCHANGED = "unchanged"
    REFUSED = "refused"


@dataclass(frozen=True, kw_only=True)
class Line:
    """
    A price per GPU-hour that somebody wants an offer to have.

    No `valid_from` means at once. `is_meant` says that the reason is for this very
    price, however unlikely it is. `seen` is the newest version that this person knew
    of, None if that does not matter. A line that could not be read says so in `fault`.
    """

    number: int
    label: str = ""
    offer_id: int | None = None
    price: Money | None = None
    valid_from: datetime | None = None
    reason: str = ""
    is_meant: bool = False
    seen: int | None = None
    fault: str = ""
    typed: str = ""


class Version(NamedTuple):
    """
    A version of an offer's price that is valid now or will be.
    """

    pk: int
    offer_id: int
    price: Money
    valid_from: datetime


@dataclass(frozen=True, kw_only=True)
class PlannedPrice:
    """
    What becomes of a line.

    `current` is what the offer costs now, `before` what it would cost at `valid_from`
    without the line, `follows` the scheduled version that ends it. `needs_reason` says that a reason would lift the
    refusal, `is_overtaken` that somebody else changed the price meanwhile.
    """

    line: Line
    outcome: Outcome
    offer: Any = None
    current: Version | None = None
    before: Version | None = None
    follows: Version | None = None
    newest: int | None = None
    valid_from: datetime | None = None
    refusal: str = ""
    needs_reason: bool = False
    is_overtaken: bool = False

    @property
    def input_name(self) -> str:
        return input_name(self.line.offer_id, self.current, self.newest)

    @property
    def share(self) -> Decimal | None:
        """
        How much dearer it gets, as a share; None where that cannot be said.
        """
        if self.before is None or self.line.price is None:
            return None
        if self.before.price.currency != self.line.price.currency:
            return None
        return self.line.price.amount / self.before.price.amount - 1

    @property
    def is_written(self) -> bool:
        return self.outcome in {Outcome.ADDED, Outcome.CHANGED}


@dataclass(frozen=True, kw_only=True)
class PricePlan:
    """
    What becomes of all lines, in their order.
    """

    at: datetime
    rows: list[PlannedPrice]
    counts: Counter[Outcome] = field(init=False)

    def __post_init__(self) -> None:
        counts = Counter(row.outcome for row in self.rows)
        object.__setattr__(self, "counts", counts)

    @property
    def written(self) -> list[PlannedPrice]:
        return [row for row in self.rows if row.is_written]

    @property
    def waiting(self) -> list[PlannedPrice]:
        """
        Return what a second person has to approve first.
        """
        return [row for row in self.rows if row.outcome == Outcome.WAITING]

    @property
    def refused(self) -> list[PlannedPrice]:
        return [row for row in self.rows if row.outcome == Outcome.REFUSED]

    @property
    def can_be_saved(self) -> bool:
        return self.count_to_save > 0 and not self.refused

    @property
    def count_to_save(self) -> int:
        return len(self.written) + len(self.waiting)

    @property
    def digest(self) -> str:
        """
        Name what was looked at: the same lines on the same versions give the same.
        """
        seen = hashlib.sha256()
        for row in self.rows:
            before = row.before.pk if row.before else None
            seen.update(f"{row.line}{row.outcome}{before}{row.newest}\n".encode())
        return seen.hexdigest()


def input_name(offer_id: int | None, shown: Version | None, newest: int | None) -> str:
    """
    Name the input of an offer's price: it carries the versions that were seen there.
    """
    return f"price-{offer_id}-{shown.pk if shown else 0}-{newest or 0}"


def plan_prices(lines: Sequence[Line], *, at: datetime) -> PricePlan:
    """
    Say what becomes of each line at `at`, and why if it cannot be.
    """
    offer_ids = {line.offer_id for line in lines if line.offer_id is not None}
    offers = {offer.pk: offer for offer in _offers(offer_ids, at=at)}
    gpu_ids = {offer.gpu_id for offer in offers.values()}
    judge = _Judge(
        at=at,
        offers=offers,
        versions=versions_of(offer_ids, at=at),
        medians=recent_medians(gpu_ids=gpu_ids, at=at),
        waiting=PriceProposal.objects.offers_among(offer_ids),
    )
    return PricePlan(at=at, rows=[judge.row(line) for line in lines])


def _offers(offer_ids: Iterable[int], *, at: datetime) -> Iterable[Any]:
    offers = Offer.objects.filter(pk__in=offer_ids).with_price(at)
    return offers.select_related("gpu", "supplier", "region")


def versions_of(offer_ids: Iterable[int], *, at: datetime) -> dict[int, list[Version]]:
    """
    Return the versions of offers that are valid at `at` or later, by start.
    """
    versions = OfferPrice.objects.filter(
        Q(valid_to__isnull=True) | Q(valid_to__gt=at), offer__in=offer_ids
    )
    rows: Any = versions.order_by("valid_from").values_list(
        "pk", "offer_id", "hourly_price", "hourly_price_currency", "valid_from"
    )
    found = defaultdict(list)
    for pk, offer_id, amount, currency, valid_from in rows:
        version = Version(pk, offer_id, Money(amount, currency), valid_from)
        found[offer_id].append(version)
    return found


@dataclass(kw_only=True)
class _Judge:
    """
    Holds lines against what is known, one after the other.
    """

    at: datetime
    offers: dict[int, Any]
    versions: dict[int, list[Version]]
    medians: Medians
    waiting: set[int]
    taken: dict[tuple[int, datetime], int] = field(default_factory=dict)

    def row(self, line: Line) -> PlannedPrice:
        if line.fault or line.price is None or line.offer_id not in self.offers:
            fault = line.fault or _("This offer does not exist any more.")
            return self._refused(line, PriceRefused(fault))
        try:
            return self._judged(line, line.price, self.offers[line.offer_id])
        except PriceRefused as refusal:
            return self._refused(line, refusal)

    def _judged(self, line: Line, price: Money, offer: Any) -> PlannedPrice:
        start = line.valid_from or self.at
        before, follows = self._around(offer.pk, max(start, self.at))
        self._check_alone(line, offer.pk, max(start, self.at))
        outcome = Outcome.CHANGED if before else Outcome.ADDED
        price = Money(round_half_up(price.amount, RATE_PLACES), price.currency)
        if before and before.price == price:
            outcome = Outcome.UNCHANGED
        elif self._check(line, price, offer, start, before):
            outcome = Outcome.WAITING
        return PlannedPrice(
            line=line,
            outcome=outcome,
            offer=offer,
            current=self._current(offer),
            before=before,
            follows=follows,
            newest=self._newest(offer.pk),
            valid_from=start,
        )

    def _check(
        self,
        line: Line,
        price: Money,
        offer: Any,
        start: datetime,
        before: Version | None,
    ) -> bool:
        """
        Say what speaks against the price, and whether a second person approves it.
        """
        if line.seen is not None and line.seen != (self._newest(offer.pk) or 0):
            raise Overtaken
        is_meant = line.is_meant and bool(line.reason.strip())
        needs_approval = check(
            price,
            gpu_id=offer.gpu_id,
            valid_from=start,
            medians=self.medians,
            is_meant=is_meant,
            at=self.at,
        )
        if before and before.price.currency != price.currency and not is_meant:
            raise CurrencyChanges(before.price.currency.code)
        if any(version.valid_from == start for version in self.versions[offer.pk]):
            raise PriceRefused(
                _(
                    "A price that starts at this moment exists already. Choose another"
                    " start."
                )
            )
        if needs_approval and offer.pk in self.waiting:
            raise AlreadyWaiting
        return needs_approval

    def _check_alone(self, line: Line, offer_id: int, start: datetime) -> None:
        first = self.taken.setdefault((offer_id, start), line.number)
        if first != line.number:
            raise PriceRefused(
                _("Line %(number)s sets the price of this offer already.")
                % {"number": first}
            )

    def _around(
        self, offer_id: int, start: datetime
    ) -> tuple[Version | None, Version | None]:
        versions = self.versions.get(offer_id, [])
        before = [version for version in versions if version.valid_from <= start]
        after = [version for version in versions if version.valid_from > start]
        return (before[-1] if before else None), (after[0] if after else None)

    def _current(self, offer: Any) -> Version | None:
        return self._around(offer.pk, self.at)[0] if offer else None

    def _newest(self, offer_id: int) -> int | None:
        return max(
            (version.pk for version in self.versions.get(offer_id, [])), default=None
        )

    def _refused(self, line: Line, refusal: PriceRefused) -> PlannedPrice:
        offer = self.offers.get(line.offer_id or 0)
        start = max(line.valid_from or self.at, self.at)
        before, follows = self._around(offer.pk, start) if offer else (None, None)
        return PlannedPrice(
            line=line,
            outcome=Outcome.REFUSED,
            offer=offer,
            current=self._current(offer),
            before=before,
            follows=follows,
            newest=self._newest(offer.pk) if offer else None,
            valid_from=line.valid_from,
            refusal=str(refusal),
            needs_reason=isinstance(refusal, PriceNotMeant),
            is_overtaken=isinstance(refusal, Overtaken),
        )


class Overtaken(PriceRefused):
    """
    Somebody else changed the price since it was looked at.
    """

    def __init__(self) -> None:
        super().__init__(
            _(
                "Somebody changed this price while you were at it. What it is now is"
                " shown here; save again if yours is still right."
            )
        )


class AlreadyWaiting(PriceRefused):
    """
    A price of this offer waits to be approved, so a second one cannot.
    """

    def __init__(self) -> None:
        super().__init__(
            _(
                "A price of this offer waits to be approved already. Approve or refuse"
                " that one first."
            )
        )


class CurrencyChanges(PriceNotMeant):
    """
    A price is in another currency than the offer's price was.
    """

    def __init__(self, currency: str) -> None:
        super().__init__(
            _(
                "This offer is priced in %(currency)s. If the change of currency is"
                " meant, confirm it with a reason."
            )
            % {"currency": currency}
        )
