"""
The demand board: everything for staff, nobody to be found in it for suppliers.
"""

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

import clock
from access import staff_only
from csv_files import csv_lines, csv_response
from marketplace.demand import FEWEST_RENTERS, Board, board_of, board_rows
from marketplace.models import SupplierMember
from marketplace.views.suppliers.acting import supplier_only

HEADS = [
    "Cut",
    "Key",
    "Group",
    "Requests",
    "GPU-hours",
    "Unmet GPU-hours",
    "At the limits",
    "Currency",
]


@require_safe
@staff_only
def staff_board(request: HttpRequest) -> HttpResponse:
    context = {"board": board_of(at=clock.now(), is_public=False)}
    return render(request, "suppliers/staff/demand.html", context)


@require_safe
@staff_only
def staff_csv(request: HttpRequest) -> HttpResponseBase:
    return _csv(board_of(at=clock.now(), is_public=False))


@require_safe
@supplier_only
def board(request: HttpRequest, member: SupplierMember) -> HttpResponse:
    context = {
        "member": member,
        "board": board_of(at=clock.now(), is_public=True),
        "fewest": FEWEST_RENTERS,
    }
    return render(request, "suppliers/demand.html", context)


@require_safe
@supplier_only
def board_csv(request: HttpRequest, member: SupplierMember) -> HttpResponseBase:
    return _csv(board_of(at=clock.now(), is_public=True))


def _csv(board: Board) -> HttpResponseBase:
    name = f"demand-{clock.now():%Y-%m-%d}.csv"
    return csv_response(csv_lines(HEADS, board_rows(board)), name=name)
