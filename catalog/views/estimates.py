import csv
from collections.abc import Mapping

from django.contrib.auth.decorators import login_not_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from catalog.evidence import METHOD_NAMES, METRIC_NAMES, SOURCE_NAMES, published

RUNS_SHOWN = 40
COLUMNS = (
    "id",
    "model",
    "method",
    "source",
    "metric",
    "observed_gb",
    "estimated_gb",
    "error",
    "source_url",
)


@require_safe
@login_not_required
def estimates(request: HttpRequest) -> HttpResponse:
    evidence = published()
    method = _known(request.GET.get("method", ""), METHOD_NAMES)
    source = _known(request.GET.get("source", ""), SOURCE_NAMES)
    runs = Paginator(evidence.chosen(method=method, source=source), RUNS_SHOWN)
    context = {
        "evidence": evidence,
        "report": evidence.report,
        "runs": runs.get_page(request.GET.get("page")),
        "methods": METHOD_NAMES,
        "sources": SOURCE_NAMES,
        "metrics": METRIC_NAMES,
        "method": method,
        "source": source,
    }
    return render(request, "catalog/estimates.html", context)


@require_safe
@login_not_required
def estimates_csv(request: HttpRequest) -> HttpResponse:
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="corehour-estimates.csv"'
    sheet = csv.writer(response)
    sheet.writerow(COLUMNS)
    for run in published().report.comparisons:
        cells = {
            **vars(run),
            "estimated_gb": f"{run.estimated_gb:.3f}",
            "error": f"{run.error:.4f}",
        }
        sheet.writerow(cells[column] for column in COLUMNS)
    return response


def _known(name: str, names: Mapping[str, object]) -> str:
    return name if name in names else ""
