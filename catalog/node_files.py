"""
Reads and writes a supplier's nodes as CSV: one line is one kind of node in one region.

A line is found by the slugs of its GPU and region and by the size of its node, so a
file that is read again changes nothing. What a file does not name stays as it is.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, NamedTuple

from django.conf import settings
from django.utils.translation import gettext as _
from djmoney.money import Money

from catalog.models import GpuModel, Offer, Region
from catalog.price_bounds import Medians, PriceRefused, recent_medians
from catalog.price_plans import Outcome
from catalog.services.listings import KEY, MACHINE, NodeListed, Nodes, check_ask
from catalog.uploads import read_rows
from csv_files import csv_lines, unguarded

COLUMNS = (
    "gpu",
    "region",
    "gpus_per_node",
    "nodes",
    "cpu_cores",
    "ram_gb",
    "disk_gb",
    "network_gbps",
    "cuda_version",
    "ask",
    "currency",
    "floor",
    "until",
)
MAY_BE_EMPTY = ("cuda_version", "floor", "until")
LIMITS = {
    "gpus_per_node": (1, 16),
    "nodes": (1, 10_000),
    "cpu_cores": (1, 1024),
    "ram_gb": (1, 100_000),
    "disk_gb": (1, 1_000_000),
}
MOST_NETWORK = 1600
PRICE = re.compile(r"\d{1,7}(\.\d{1,6})?", re.ASCII)
CUDA = re.compile(r"\d{1,2}\.\d{1,2}", re.ASCII)

Key = tuple[int, int, int]


@dataclass(frozen=True, kw_only=True)
class NodeLine:
    """
    What a line of a file wants; one that cannot be read says so in `fault`.
    """

    number: int
    label: str
    wanted: Nodes | None = None
    fault: str = ""


@dataclass(frozen=True, kw_only=True)
class PlannedNodes:
    """
    What becomes of a line: `changes` are what it changes, as text before and after.
    """

    line: NodeLine
    outcome: Outcome
    offer_id: int | None = None
    changes: list[tuple[str, str, str]] = field(default_factory=list)
    refusal: str = ""


@dataclass(frozen=True, kw_only=True)
class NodePlan:
    """
    What becomes of all lines of a file, in their order; `medians` is what was asked so far.
    """

    rows: list[PlannedNodes]
    medians: Medians
    counts: Counter[Outcome] = field(init=False)

    def __post_init__(self) -> None:
        counts = Counter(row.outcome for row in self.rows)
        object.__setattr__(self, "counts", counts)

    @property
    def written(self) -> list[PlannedNodes]:
        return [
            row for row in self.rows if row.outcome in {Outcome.ADDED, Outcome.CHANGED}
        ]

    @property
    def can_be_saved(self) -> bool:
        return bool(self.written) and not self.counts[Outcome.REFUSED]

    @property
    def digest(self) -> str:
        """
        Name what was looked at: the same lines on the same listings give the same.
        """
        told = "\n".join(f"{row}" for row in self.rows)
        return hashlib.sha256(told.encode()).hexdigest()


def read_nodes(text: str) -> list[NodeLine]:
    """
    Return what each line of a file wants; a line that cannot be read says why.

    :raises catalog.uploads.FileRefused: if columns are missing, or there are no lines
    """
    rows = read_rows(text, must_have=COLUMNS)
    gpus = dict(GpuModel.objects.values_list("slug", "pk"))
    regions = dict(Region.objects.values_list("slug", "pk"))
    return [_read(number, row, gpus, regions) for number, row in rows]


def plan_nodes(
    lines: Sequence[NodeLine], *, supplier_id: int, at: datetime
) -> NodePlan:
    """
    Say what becomes of each line at `at`, and why if it cannot be.
    """
    gpu_ids = {line.wanted.gpu_id for line in lines if line.wanted}
    judge = _Judge(
        at=at,
        listed={key_of(each): each for each in listed_offers(supplier_id, at=at)},
        others={
            key_of(each)
            for each in Offer.objects.filter(supplier=supplier_id, listing=None)
        },
        medians=recent_medians(gpu_ids=gpu_ids, at=at),
    )
    rows = [judge.row(line) for line in lines]
    return NodePlan(rows=rows, medians=judge.medians)


def written_nodes(*, supplier_id: int, at: datetime) -> Iterator[str]:
    """
    Yield a supplier's listings as the CSV that can be read again.
    """
    offers = listed_offers(supplier_id, at=at)
    rows = [[*_cells(nodes_of(offer), offer).values()] for offer in offers]
    return csv_lines(COLUMNS, rows)


def listed_offers(supplier_id: int, *, at: datetime) -> list[Any]:
    """
    Return the offers that a supplier lists or pauses, with listing, names and price.
    """
    offers = Offer.objects.filter(
        supplier=supplier_id, listing__isnull=False, listing__removed_at=None
    )
    rows = offers.select_related("listing", "gpu", "region").with_price(at)
    return list(rows.order_by("gpu__label", "region__slug", "gpus_per_node"))


def nodes_of(offer: Any) -> Nodes:
    """
    Return what a supplier said of an offer that was read by `listed_offers`.
    """
    listing = offer.listing
    return Nodes(
        **{name: getattr(offer, name) for name in KEY},
        **{name: getattr(listing, name) for name in MACHINE},
        nodes=offer.nodes,
        ask=Money(offer.hourly_amount, offer.hourly_currency),
        floor=listing.floor_amount,
        available_until=offer.available_until,
    )


def end_of(day: date | None) -> datetime | None:
    """
    Return the end of the last day, in UTC; None stays None.
    """
    if day is None:
        return None
    # The calendar has no day after its last one.
    following = min(day, date.max - timedelta(days=1)) + timedelta(days=1)
    return datetime.combine(following, time(), UTC)


def last_day(until: datetime | None) -> date | None:
    """
    Return the last day of what ends at `until`, in UTC.
    """
    return (until.astimezone(UTC) - timedelta(seconds=1)).date() if until else None


def key_of(nodes: Nodes | Offer) -> Key:
    return nodes.gpu_id, nodes.region_id, nodes.gpus_per_node


@dataclass(kw_only=True)
class _Judge:
    """
    Holds lines against what is known, one after the other.

    `others` are offers that are no listings: staff keep them.
    """

    at: datetime
    listed: Mapping[Key, Any]
    others: Collection[Key]
    medians: Medians
    taken: dict[Key, int] = field(default_factory=dict)

    def row(self, line: NodeLine) -> PlannedNodes:
        if line.wanted is None:
            return _refused(line, line.fault)
        try:
            return self._judged(line, line.wanted)
        except (_CannotBe, NodeListed, PriceRefused) as refusal:
            return _refused(line, str(refusal))

    def _judged(self, line: NodeLine, wanted: Nodes) -> PlannedNodes:
        key = key_of(wanted)
        first = self.taken.setdefault(key, line.number)
        if first != line.number:
            fault = _("Line %(number)s is about these nodes already.")
            raise _CannotBe(fault % {"number": first})
        if key in self.others:
            raise NodeListed
        offer = self.listed.get(key)
        if offer is None:
            self._check(wanted, current=None)
            return PlannedNodes(line=line, outcome=Outcome.ADDED)
        changes = _changes(offer, wanted)
        outcome = Outcome.CHANGED if changes else Outcome.UNCHANGED
        if changes:
            self._check(wanted, current=nodes_of(offer).ask)
        return PlannedNodes(
            line=line, outcome=outcome, offer_id=offer.pk, changes=changes
        )

    def _check(self, wanted: Nodes, *, current: Money | None) -> None:
        if wanted.available_until is not None and wanted.available_until <= self.at:
            raise _CannotBe(_("The last day is over already."))
        check_ask(wanted, at=self.at, current=current, medians=self.medians)
        if current is not None and current.currency != wanted.ask.currency:
            fault = _("These nodes are priced in %(code)s. Remove them to change that.")
            raise _CannotBe(fault % {"code": current.currency.code})


def _refused(line: NodeLine, refusal: str) -> PlannedNodes:
    return PlannedNodes(line=line, outcome=Outcome.REFUSED, refusal=refusal)


def _changes(offer: Any, wanted: Nodes) -> list[tuple[str, str, str]]:
    old, new = _cells(nodes_of(offer), offer), _cells(wanted, offer)
    return [(name, old[name], new[name]) for name in COLUMNS if old[name] != new[name]]


def _cells(nodes: Nodes, offer: Any) -> dict[str, str]:
    until = last_day(nodes.available_until)
    return {
        "gpu": offer.gpu.slug,
        "region": offer.region.slug,
        "gpus_per_node": f"{nodes.gpus_per_node}",
        "nodes": f"{nodes.nodes}",
        "cpu_cores": f"{nodes.cpu_cores}",
        "ram_gb": f"{nodes.ram_gb}",
        "disk_gb": f"{nodes.disk_gb}",
        "network_gbps": _plain(nodes.network_gbps),
        "cuda_version": nodes.cuda_version,
        "ask": _plain(nodes.ask.amount),
        "currency": nodes.ask.currency.code,
        "floor": "" if nodes.floor is None else _plain(nodes.floor),
        "until": until.isoformat() if until else "",
    }


def _plain(amount: Decimal) -> str:
    return f"{amount.normalize():f}"


class _CannotBe(Exception):
    """
    A line says nothing that can be done; the message says why.
    """


class _Row(NamedTuple):
    cells: dict[str, str]

    def whole(self, name: str) -> int:
        least, most = LIMITS[name]
        text = self.cells[name]
        if re.fullmatch(r"\d{1,7}", text, re.ASCII) and least <= int(text) <= most:
            return int(text)
        fault = _("%(column)s is a whole number from %(least)s to %(most)s.")
        raise _CannotBe(fault % {"column": name, "least": least, "most": most})

    def price(self, name: str) -> Decimal:
        text = self.cells[name]
        if PRICE.fullmatch(text) and Decimal(text) > 0:
            return Decimal(text)
        fault = _("%(column)s is a price like 0.33, with a decimal point.")
        raise _CannotBe(fault % {"column": name})

    def network(self) -> Decimal:
        text = self.cells["network_gbps"]
        if re.fullmatch(r"\d{1,4}(\.\d)?", text, re.ASCII):
            figure = Decimal(text)
            if 0 < figure <= MOST_NETWORK:
                return figure
        raise _CannotBe(_("network_gbps is a number like 10 or 2.5."))

    def cuda(self) -> str:
        text = self.cells["cuda_version"]
        if text and not CUDA.fullmatch(text):
            raise _CannotBe(_("cuda_version is written like 12.8, or left empty."))
        return text

    def currency(self) -> str:
        code = self.cells["currency"]
        if code not in settings.CURRENCIES:
            fault = _("There is no currency “%(code)s” here. Write one of %(codes)s.")
            codes = ", ".join(settings.CURRENCIES)
            raise _CannotBe(fault % {"code": code, "codes": codes})
        return code

    def until(self) -> datetime | None:
        text = self.cells["until"]
        if not text:
            return None
        try:
            return end_of(date.fromisoformat(text))
        except ValueError as error:
            raise _CannotBe(
                _("until is a day like 2027-01-31, or left empty.")
            ) from error

    def one_of(self, name: str, known: Mapping[str, int]) -> int:
        if (slug := self.cells[name]) not in known:
            fault = _("There is no %(column)s “%(slug)s”.")
            raise _CannotBe(fault % {"column": name, "slug": slug})
        return known[slug]


def _read(
    number: int,
    row: Mapping[str | None, Any],
    gpus: Mapping[str, int],
    regions: Mapping[str, int],
) -> NodeLine:
    cells = {
        name: unguarded((cell or "").strip()) for name, cell in row.items() if name
    }
    label = " · ".join(cells.get(name, "") for name in COLUMNS[:3])
    try:
        if None in row or None in row.values():
            raise _CannotBe(  # noqa: TRY301 - one way out for all faults
                _("This line has not as many cells as the first one.")
            )
        wanted = _wanted(_Row(cells), gpus, regions)
    except _CannotBe as error:
        return NodeLine(number=number, label=label, fault=str(error))
    return NodeLine(number=number, label=label, wanted=wanted)


def _wanted(row: _Row, gpus: Mapping[str, int], regions: Mapping[str, int]) -> Nodes:
    return Nodes(
        gpu_id=row.one_of("gpu", gpus),
        region_id=row.one_of("region", regions),
        gpus_per_node=row.whole("gpus_per_node"),
        nodes=row.whole("nodes"),
        cpu_cores=row.whole("cpu_cores"),
        ram_gb=row.whole("ram_gb"),
        disk_gb=row.whole("disk_gb"),
        network_gbps=row.network(),
        cuda_version=row.cuda(),
        ask=Money(row.price("ask"), row.currency()),
        floor=row.price("floor") if row.cells["floor"] else None,
        available_until=row.until(),
    )
