"""
The published measurements against the estimates, as the page about them shows it.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import median, quantiles

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from catalog.accuracy import Comparison, Report, errors_of_others, evaluate
from catalog.estimators import ESTIMATOR_NAMES
from catalog.measurements import measured_rows
from catalog.scatter import MARKS, Point, Scatter, draw

METHOD_NAMES: dict[str, str | Promise] = {
    "qlora": "QLoRA",
    "qlora-gptq": "QLoRA, GPTQ",
    "lora": "LoRA",
    "full": _("Full fine-tuning"),
}
SOURCE_NAMES = {
    "axolotl": "Axolotl",
    "fms": "fms-acceleration",
    "fsdp_qlora": "fsdp_qlora",
    "litgpt": "LitGPT config hub",
    "litgpt-tables": "LitGPT tables",
    "llamafactory-wiki": "LLaMA-Factory wiki",
    "ms-swift-bench": "ms-swift",
    "peft-bench": "PEFT comparison",
    "qwen-readme": "Qwen README",
    "torchtune": "torchtune",
}
METRIC_NAMES: dict[str, str | Promise] = {
    "allocated": _("allocated by torch"),
    "reserved": _("reserved by torch"),
    "nvidia_smi": "nvidia-smi",
    "unspecified": _("not stated"),
}


@dataclass(frozen=True, kw_only=True)
class Group:
    """
    The errors of some of the runs, as shares; `others` is the median without them.
    """

    slug: str
    name: str | Promise
    url: str
    runs: int
    median: float
    ninetieth: float
    others: float
    scatter: Scatter

    @property
    def mark(self) -> str:
        """
        The mark of a method in the drawings.
        """
        return MARKS[list(METHOD_NAMES).index(self.slug)]

    @property
    def mark_class(self) -> str:
        return f"mark-{list(METHOD_NAMES).index(self.slug) + 1}"


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """
    All that the page shows; `estimators` are ours and the others with their medians.
    """

    report: Report
    rows: int
    scatter: Scatter
    by_method: list[Group]
    by_source: list[Group]
    estimators: list[tuple[str | Promise, float, int]]

    @property
    def left_out(self) -> int:
        """
        Count what is neither scored nor a run out of memory that is judged.
        """
        return self.rows - self.report.rows - self.report.out_of_memory_runs

    def chosen(self, *, method: str, source: str) -> list[Comparison]:
        """
        Return the runs of a method and a source, the largest error first.

        Empty stands for all of them.
        """
        found = [
            run
            for run in self.report.comparisons
            if method in ("", run.method) and source in ("", run.source)
        ]
        return sorted(found, key=lambda run: -abs(run.error))


@cache
def published() -> Evidence:
    """
    Return the evidence that ships with the project; its file changes with the code.
    """
    rows = measured_rows()
    report = evaluate(rows=rows)
    runs = report.comparisons
    others = errors_of_others(rows=rows)
    adapters = sum(run.method != "full" for run in runs)
    return Evidence(
        report=report,
        rows=len(rows),
        scatter=_scatter(runs),
        by_method=_groups(runs, "method", METHOD_NAMES),
        by_source=_groups(runs, "source", SOURCE_NAMES),
        estimators=[
            ("Corehour", report.median_error, len(runs)),
            *(
                # fitcheck says nothing about full fine-tuning.
                (
                    ESTIMATOR_NAMES[name],
                    error,
                    adapters if name == "fitcheck" else len(runs),
                )
                for name, error in others.items()
            ),
        ],
    )


def _groups(
    runs: Sequence[Comparison], field: str, names: Mapping[str, str | Promise]
) -> list[Group]:
    by_slug: defaultdict[str, list[Comparison]] = defaultdict(list)
    for run in runs:
        by_slug[getattr(run, field)].append(run)
    largest_first = sorted(by_slug, key=lambda slug: (-len(by_slug[slug]), slug))
    return [
        Group(
            slug=slug,
            name=names.get(slug, slug),
            url=by_slug[slug][0].source_url,
            runs=len(by_slug[slug]),
            median=median(_errors(by_slug[slug])),
            ninetieth=_ninetieth(_errors(by_slug[slug])),
            others=median(_errors(run for run in runs if getattr(run, field) != slug)),
            scatter=_scatter(by_slug[slug]),
        )
        for slug in largest_first
    ]


def _errors(runs: Iterable[Comparison]) -> list[float]:
    return [abs(run.error) for run in runs]


def _ninetieth(errors: list[float]) -> float:
    if len(errors) == 1:
        return errors[0]
    return quantiles(errors, n=10, method="inclusive")[-1]


def _scatter(runs: Iterable[Comparison]) -> Scatter:
    return draw(
        [Point(run.observed_gb, run.estimated_gb, run.method) for run in runs],
        series=list(METHOD_NAMES),
    )
