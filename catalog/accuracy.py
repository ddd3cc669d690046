"""
Holds the memory estimates against published measurements.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median, quantiles
from typing import Any

from catalog.estimators import OTHER_ESTIMATORS
from catalog.fit import Fit, MemoryEstimate, verdict
from catalog.fit.memory import CONTEXT_GB, estimate
from catalog.measurements import (
    Card,
    NotDescribed,
    Row,
    as_stated,
    card_of,
    training_of,
)


@dataclass(frozen=True)
class Comparison:
    """
    One measurement and its estimate, in 1e9 bytes; `error` is a share, signed.
    """

    id: str
    model: str
    method: str
    source: str
    source_url: str
    metric: str
    observed_gb: float
    estimated_gb: float

    @property
    def error(self) -> float:
        return self.estimated_gb / self.observed_gb - 1


@dataclass(frozen=True)
class Report:
    """
    How good the estimates are; errors are shares (0.05 is 5 %), medians absolute.

    The verdict on a run is judged by the card it ran on: `out_of_memory_called_fits`
    counts runs out of memory that would have been called "fits", `runs_refused` is the
    share of the runs that ran and would have been called "does not fit".
    """

    rows: int
    median_error: float
    ninetieth_error: float
    bias: float
    within_tenth: float
    by_method: dict[str, float]
    by_source: dict[str, float]
    without_source: dict[str, float]
    out_of_memory_runs: int
    out_of_memory_called_fits: int
    runs: int
    runs_refused: float
    comparisons: tuple[Comparison, ...]
    misjudged: tuple[str, ...]
    not_described: tuple[str, ...]


def evaluate(*, rows: Iterable[Mapping[str, Any]]) -> Report:
    """
    Estimate every row that can be described, and report the errors.

    A row is a mapping with the columns of data/memory_measurements.csv; a column may be
    missing or empty, see `catalog.measurements.as_stated`. Errors are taken from the
    rows that are marked to be scored, verdicts from all runs on one card that is known.
    What cannot be described is left out and listed.

    :raises ValueError: if no row is left to be scored
    """
    comparisons: list[Comparison] = []
    verdicts = _Verdicts()
    not_described = []
    for row in map(as_stated, rows):
        try:
            estimated = estimate(training_of(row))
        except NotDescribed:
            not_described.append(row["id"])
            continue
        card = card_of(row)
        if _is_scored(row):
            comparisons.append(_compare(row, estimated, card))
        if card is not None:
            verdicts.add(row, estimated, card)
    if not comparisons:
        raise ValueError("None of the rows can be scored.")
    return _report(comparisons, verdicts, not_described)


def errors_of_others(*, rows: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """
    Return the median absolute error of each other public estimator on the same rows.
    """
    errors: defaultdict[str, list[float]] = defaultdict(list)
    for row in map(as_stated, rows):
        if not _is_scored(row):
            continue
        try:
            training = training_of(row)
        except NotDescribed:
            continue
        for name, other in OTHER_ESTIMATORS.items():
            if (estimated_gb := other(training)) is not None:
                errors[name].append(abs(estimated_gb / float(row["peak_gb"]) - 1))
    return {name: median(errors[name]) for name in OTHER_ESTIMATORS if errors[name]}


def _is_scored(row: Row) -> bool:
    """
    Say whether a row is to be scored and has a peak, a number above zero.
    """
    try:
        return row["score"] == "yes" and float(row["peak_gb"]) > 0
    except ValueError:
        return False


class _Verdicts:
    """
    Counts what the three-state verdict says of runs whose end is known.
    """

    def __init__(self) -> None:
        self.out_of_memory: list[str] = []
        self.called_fits: list[str] = []
        self.ran: list[str] = []
        self.refused: list[str] = []

    def add(self, row: Row, estimated: MemoryEstimate, card: Card) -> None:
        fit = verdict(
            estimate=estimated,
            memory_gb=card.memory_gb,
            has_inline_ecc=card.has_inline_ecc,
        ).fit
        if row["kind"] == "oom":
            self.out_of_memory.append(row["id"])
            if fit is Fit.FITS:
                self.called_fits.append(row["id"])
        elif row["kind"] == "measured_peak" and row["score"] == "yes":
            self.ran.append(row["id"])
            if fit is Fit.NO:
                self.refused.append(row["id"])


def _compare(row: Row, estimated: MemoryEstimate, card: Card | None) -> Comparison:
    return Comparison(
        id=row["id"],
        model=row["model"],
        method=row["method"],
        source=row["source"],
        source_url=row["source_url"],
        metric=row["metric"],
        observed_gb=float(row["peak_gb"]),
        estimated_gb=_figure(row["metric"], estimated, card),
    )


def _figure(metric: str, estimated: MemoryEstimate, card: Card | None) -> float:
    """
    Return the figure that a row's metric measures.

    torch's allocated bytes are the allocated figure. Its reserved bytes hold the
    allocator's cache but no CUDA context; nvidia-smi reads both. A full card bounds
    the cache: the allocator gives it back before it runs out.
    """
    if metric == "allocated":
        return estimated.allocated_gb
    wide = estimated.wide_gb
    if card is not None:
        usable = verdict(
            estimate=estimated,
            memory_gb=card.memory_gb,
            has_inline_ecc=card.has_inline_ecc,
        ).usable_gb
        wide = min(wide, max(usable, estimated.needed_gb))
    return wide - CONTEXT_GB if metric == "reserved" else wide


def _report(
    comparisons: Sequence[Comparison], verdicts: _Verdicts, not_described: list[str]
) -> Report:
    errors = [abs(comparison.error) for comparison in comparisons]
    sources = {comparison.source for comparison in comparisons}
    return Report(
        rows=len(comparisons),
        median_error=median(errors),
        ninetieth_error=_ninetieth(errors),
        bias=median(comparison.error for comparison in comparisons),
        within_tenth=sum(error <= 0.1 for error in errors) / len(errors),
        by_method=_medians(comparisons, "method"),
        by_source=_medians(comparisons, "source"),
        without_source={
            source: median(abs(other.error) for other in others)
            for source in sorted(sources)
            if (others := [each for each in comparisons if each.source != source])
        },
        out_of_memory_runs=len(verdicts.out_of_memory),
        out_of_memory_called_fits=len(verdicts.called_fits),
        runs=len(verdicts.ran),
        runs_refused=len(verdicts.refused) / max(1, len(verdicts.ran)),
        comparisons=tuple(comparisons),
        misjudged=(*verdicts.called_fits, *verdicts.refused),
        not_described=tuple(not_described),
    )


def _medians(comparisons: Sequence[Comparison], field: str) -> dict[str, float]:
    errors: defaultdict[str, list[float]] = defaultdict(list)
    for comparison in comparisons:
        errors[getattr(comparison, field)].append(abs(comparison.error))
    return {name: median(errors[name]) for name in sorted(errors)}


def _ninetieth(errors: Sequence[float]) -> float:
    if len(errors) == 1:
        return errors[0]
    return quantiles(errors, n=10, method="inclusive")[-1]
