"""
What is funded and waits, cut by what suppliers could offer for it.

Staff see every group. Suppliers see it without names: a group in which fewer than three
different renters wait is merged into "others", and where others would still be fewer than
three, the smallest group shown is merged into them as well, so that nobody can be found
by subtraction. Where fewer than three renters wait in all, nothing is shown.

A request is counted in each of its regions, so regions are merged by the sets of them
that are accepted: otherwise what two regions differ by could be one renter's request.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, NamedTuple

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from djmoney.money import Money

import formats
from catalog.models import BaseModel, Method
from marketplace.book import asks_of, bids_of, rank_of
from marketplace.chances import Names, NodeChance, Waiting, chances_of, read_names
from marketplace.matching import Ask, Bid, match_book
from money import round_half_up
from workspaces.models import Workspace
from workspaces.queueing import BOOK_CURRENCY

FEWEST_RENTERS = 3
WEEKS_SHOWN = 8
OTHERS = "others"

FUNDED_COLUMNS = (
    "user_id",
    "gpus",
    "hours",
    "limit_price",
    "currency",
    "funded_at",
    "quote__exchange_rates",
    "quote__currency",
)

SIZES = [Decimal(3), Decimal(8), Decimal(15), Decimal(35), Decimal(80)]
LENGTHS = [2048, 4096, 8192, 16384, 32768]
LIMITS = [Decimal(text) for text in ("0.25", "0.50", "1", "2", "4")]


@dataclass
class Group:
    """
    What waits of one kind; `unmet` finds no node now, in GPU-hours.
    """

    key: str
    label: str | Promise
    requests: int = 0
    gpu_hours: int = 0
    money: Decimal = Decimal(0)
    unmet: int = 0
    renters: set[int] = field(default_factory=set)

    def add(self, row: Waiting) -> None:
        self.requests += 1
        self.gpu_hours += row.gpu_hours
        self.money += row.money
        self.unmet += 0 if row.is_met else row.gpu_hours
        self.renters.add(row.renter)

    def merge(self, other: "Group") -> None:
        self.requests += other.requests
        self.gpu_hours += other.gpu_hours
        self.money += other.money
        self.unmet += other.unmet
        self.renters |= other.renters

    @property
    def funded(self) -> Money:
        return Money(round_half_up(self.money), BOOK_CURRENCY)


class Cut(NamedTuple):
    """
    The groups of one question, such as "by region".
    """

    name: str
    title: str | Promise
    groups: list[Group]


@dataclass(frozen=True, kw_only=True)
class Board:
    total: Group
    cuts: list[Cut]
    chances: list[NodeChance]
    is_hidden: bool = False


def board_of(*, at: datetime, is_public: bool) -> Board:
    """
    Return the demand of now; `is_public` leaves nobody to be found in it.
    """
    names = read_names()
    asks = asks_of(gpu_ids=names.gpus, at=at)
    rows = _waiting(names.gpus, asks, at)
    total = Group(key="all", label=gettext_lazy("All that waits"))
    for row in rows:
        total.add(row)
    if is_public and len(total.renters) < FEWEST_RENTERS:
        nothing = Group(key="all", label=total.label)
        return Board(total=nothing, cuts=[], chances=[], is_hidden=True)
    if not is_public:
        cuts = [*_cuts(rows, names), _by_week(rows, at)]
        return Board(total=total, cuts=cuts, chances=chances_of(rows, asks, names))
    cuts = [*_cuts(_without_rare_regions(rows), names), _by_week(rows, at)]
    return Board(
        total=total,
        cuts=[cut._replace(groups=merged(cut.groups)) for cut in cuts],
        chances=chances_of(rows, asks, names, fewest_renters=FEWEST_RENTERS),
    )


def _waiting(
    gpu_ids: Collection[int], asks: Sequence[Ask], at: datetime
) -> list[Waiting]:
    """
    Return all that is funded and waits; whether it finds a node now, the rule says.
    """
    bids = bids_of(gpu_ids=gpu_ids, at=at, before_opening=True)
    met = {pairing.bid.key for pairing in match_book(bids=bids, asks=asks, at=at)}
    asked: Any = Workspace.objects.waiting().values_list(
        "pk", "user_id", "method", "base_model_id", "sequence_length"
    )
    recipes = {str(pk): rest for pk, *rest in asked}
    return [
        _row(bid, recipes[bid.key], is_met=bid.key in met)
        for bid in bids
        if bid.key in recipes
    ]


def _row(bid: Bid, recipe: Sequence[Any], *, is_met: bool) -> Waiting:
    renter, method, model_id, sequence_length = recipe
    return Waiting(
        key=bid.key,
        renter=renter,
        gpu_id=bid.gpu_id,
        gpus=bid.gpus,
        regions=bid.regions,
        method=method,
        model_id=model_id,
        sequence_length=sequence_length,
        hours=bid.hours,
        limit=bid.rank,
        money=bid.rank * bid.gpus * bid.hours,
        is_met=is_met,
    )


def _without_rare_regions(rows: Sequence[Waiting]) -> list[Waiting]:
    """
    Count requests whose set of regions is too rare to be shown as "others" instead.
    """

    def accepted(row: Waiting) -> str:
        return " ".join(sorted(row.regions))

    sets = _cut("regions", "", rows, lambda row: [(accepted(row), "")]).groups
    common = {group.key for group in merged(sets)}
    others = frozenset({OTHERS})
    return [
        row if accepted(row) in common else row._replace(regions=others) for row in rows
    ]


def _cuts(rows: Sequence[Waiting], names: Names) -> list[Cut]:
    gpus = names.gpus
    regions = {**names.regions, OTHERS: _("Others")}
    sizes: dict[int, Decimal] = dict(
        BaseModel.objects.values_list("pk", "total_params_b")
    )
    methods = dict(Method.choices)
    return [
        _cut("gpu", _("By GPU"), rows, lambda row: [(row.gpu_id, gpus[row.gpu_id])]),
        _cut(
            "region",
            _("By region"),
            rows,
            lambda row: [(slug, regions.get(slug, slug)) for slug in row.regions],
        ),
        _cut(
            "method",
            _("By method"),
            rows,
            lambda row: [(row.method, methods.get(row.method, row.method))],
        ),
        _cut(
            "model_size",
            _("By model size"),
            rows,
            lambda row: [_band(sizes[row.model_id], SIZES, formats.billions)],
        ),
        _cut(
            "sequence_length",
            _("By sequence length"),
            rows,
            lambda row: [_band(row.sequence_length, LENGTHS, formats.number)],
        ),
        _cut(
            "limit",
            _("By limit per GPU-hour"),
            rows,
            lambda row: [_band(row.limit, LIMITS, _limit)],
        ),
    ]


def _cut(
    name: str,
    title: str,
    rows: Iterable[Waiting],
    keys: Callable[[Waiting], list[tuple[Any, Any]]],
) -> Cut:
    groups: dict[str, Group] = {}
    for row in rows:
        for key, label in keys(row):
            group = groups.setdefault(str(key), Group(key=str(key), label=label))
            group.add(row)
    is_scale = name in {"model_size", "sequence_length", "limit"}
    order = _by_key if is_scale else _by_money
    return Cut(name, title, sorted(groups.values(), key=order))


def _by_money(group: Group) -> tuple[bool, Decimal, str]:
    return group.key == OTHERS, -group.money, str(group.label)


def _by_key(group: Group) -> str:
    return group.key


def _band(
    value: Decimal | int,
    edges: Sequence[Decimal | int],
    written: Callable[[Any, str], str],
) -> tuple[str, str]:
    """
    Return the band of a scale that a value is in, as a key that sorts and a label.
    """
    language = formats.language()
    for place, edge in enumerate(edges):
        if value <= edge:
            return f"{place}", _("up to %(edge)s") % {"edge": written(edge, language)}
    label = _("above %(edge)s") % {"edge": written(edges[-1], language)}
    return f"{len(edges)}", label


def _limit(edge: Decimal, language: str) -> str:
    return formats.rate(Money(edge, BOOK_CURRENCY), language)


def _by_week(waiting: Iterable[Waiting], at: datetime) -> Cut:
    """
    Return what was funded in each of the last weeks, whatever became of it.
    """
    still_unmet = {row.key for row in waiting if not row.is_met}
    oldest = _monday(at) - timedelta(weeks=WEEKS_SHOWN - 1)
    since = datetime.combine(oldest, time(), UTC)
    groups: dict[date, Group] = {}
    funded = Workspace.objects.filter(funded_at__gte=since).select_related("quote")
    for workspace in funded.only(*FUNDED_COLUMNS):
        monday = _monday(workspace.funded_at)
        group = groups.setdefault(monday, _group_of_week(monday))
        gpu_hours = workspace.gpus * workspace.hours
        limit = rank_of(workspace.limit_price.amount, workspace.quote.rates())
        group.requests += 1
        group.gpu_hours += gpu_hours
        group.money += limit * gpu_hours
        group.unmet += gpu_hours if str(workspace.pk) in still_unmet else 0
        group.renters.add(workspace.user_id)
    ordered = [groups[monday] for monday in sorted(groups)]
    return Cut("week", _("Funded by week"), ordered)


def _group_of_week(monday: date) -> Group:
    label = formats.day(monday, formats.language(), UTC, is_short=True)
    return Group(key=f"{monday}", label=label)


def _monday(at: datetime) -> date:
    day = at.astimezone(UTC).date()
    return day - timedelta(days=day.weekday())


def merged(groups: Sequence[Group]) -> list[Group]:
    """
    Merge the groups that are too small to be shown, see the module.
    """
    shown = [group for group in groups if len(group.renters) >= FEWEST_RENTERS]
    small = [group for group in groups if len(group.renters) < FEWEST_RENTERS]
    if not small:
        return shown
    others = Group(key=OTHERS, label=_("Others"))
    for group in small:
        others.merge(group)
    while shown and len(others.renters) < FEWEST_RENTERS:
        smallest = min(shown, key=lambda group: len(group.renters))
        shown.remove(smallest)
        others.merge(smallest)
    return [*shown, others] if len(others.renters) >= FEWEST_RENTERS else shown


def board_rows(board: Board) -> list[list[Any]]:
    """
    Return the rows of the CSV: one for each group of each cut.
    """
    groups = [("all", board.total)] if not board.is_hidden else []
    groups += [(cut.name, group) for cut in board.cuts for group in cut.groups]
    return [
        [
            cut,
            group.key,
            str(group.label),
            group.requests,
            group.gpu_hours,
            group.unmet,
            group.funded,
            BOOK_CURRENCY,
        ]
        for cut, group in groups
    ]
