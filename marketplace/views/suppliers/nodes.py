"""
What a supplier offers: list nodes, change them, pause them, take them off the list.
"""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import (
    require_http_methods,
    require_POST,
    require_safe,
)

import clock
from catalog import node_files
from catalog import services as catalog
from catalog.models import NodeFile, Offer
from catalog.node_files import listed_offers, plan_nodes, read_nodes
from csv_files import csv_response
from marketplace import tasks
from marketplace.models import SupplierMember
from marketplace.suppliers.desk import fee_example, node_rows, rank_of, share_of
from marketplace.suppliers.forms import NodesForm
from marketplace.views.suppliers.acting import act, supplier_only
from marketplace.views.uploading import csv_file_form, kept_file


@require_safe
@supplier_only
def nodes(request: HttpRequest, member: SupplierMember) -> HttpResponse:
    at = clock.now()
    context = {
        "member": member,
        "rows": node_rows(member.supplier, at=at),
        "fee": fee_example(),
    }
    return render(request, "suppliers/nodes.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@supplier_only
def add(request: HttpRequest, member: SupplierMember) -> HttpResponse:
    assert request.user.is_authenticated
    form = NodesForm(request.POST if request.method == "POST" else None)
    if form.is_valid() and _may_be_listed(form):
        wanted = form.nodes_wanted()
        if "confirmed" not in request.POST:
            return _confirm(request, member, form, wanted)
        try:
            catalog.list_nodes(
                supplier_id=member.supplier_id,
                wanted=wanted,
                actor=request.user,
                at=clock.now(),
            )
        except catalog.NodeListed as error:
            form.add_error(None, str(error))
        except catalog.PriceRefused as error:
            form.add_error("ask", str(error))
        else:
            tasks.match_soon()
            messages.success(request, _done(member))
            return redirect("marketplace:supplier_nodes")
    context = {"member": member, "form": form, "fee": fee_example()}
    status = 422 if form.is_bound else 200
    return render(request, "suppliers/node_add.html", context, status=status)


def _may_be_listed(form: NodesForm) -> bool:
    """
    Say what speaks against the ask before it is shown again to be confirmed.
    """
    try:
        catalog.check_ask(form.nodes_wanted(), at=clock.now())
    except catalog.PriceRefused as error:
        form.add_error("ask", str(error))
    return not form.errors


def _confirm(
    request: HttpRequest, member: SupplierMember, form: NodesForm, wanted: Any
) -> HttpResponse:
    rank = rank_of(
        wanted.ask,
        gpu_id=wanted.gpu_id,
        region_id=wanted.region_id,
        gpus=wanted.gpus_per_node,
        at=clock.now(),
    )
    context = {
        "member": member,
        "form": form,
        "gpu": form.cleaned_data["gpu"],
        "region": form.cleaned_data["region"],
        "wanted": wanted,
        "share": share_of(wanted.ask, gpus=wanted.gpus_per_node),
        "rank": rank,
    }
    return render(request, "suppliers/node_confirm.html", context)


def _done(member: SupplierMember) -> str:
    if member.supplier.is_verified:
        return _("Listed: requests can take these nodes from now on.")
    return _("Saved: these nodes are listed once your company is verified.")


@require_http_methods(["GET", "HEAD", "POST"])
@supplier_only
def change(request: HttpRequest, member: SupplierMember, offer_id: int) -> HttpResponse:
    assert request.user.is_authenticated
    row = _row(member, offer_id)
    form = NodesForm(
        request.POST if request.method == "POST" else None,
        initial=NodesForm.initial_of(row.offer),
        is_listed=True,
    )
    if form.is_valid():
        try:
            catalog.change_nodes(
                offer_id=offer_id,
                wanted=form.nodes_wanted(),
                actor=request.user,
                at=clock.now(),
            )
        except catalog.PriceRefused as error:
            form.add_error("ask", str(error))
        else:
            tasks.match_soon()
            messages.success(
                request, _("Saved. What is rented already keeps its price.")
            )
            return redirect("marketplace:supplier_nodes")
    context = {"member": member, "form": form, "row": row}
    status = 422 if form.is_bound else 200
    return render(request, "suppliers/node_change.html", context, status=status)


def _row(member: SupplierMember, offer_id: int) -> Any:
    rows = node_rows(member.supplier, at=clock.now())
    for row in rows:
        if row.offer.pk == offer_id:
            return row
    raise Http404


def _own(member: SupplierMember, offer_id: int) -> Offer:
    own = Offer.objects.filter(
        supplier=member.supplier_id, listing__removed_at=None, listing__isnull=False
    )
    return get_object_or_404(own, pk=offer_id)


@require_POST
@supplier_only
def pause(request: HttpRequest, member: SupplierMember, offer_id: int) -> HttpResponse:
    _own(member, offer_id)
    done = _("Paused: nobody can take these nodes. What runs on them goes on.")
    return _act_on_nodes(request, catalog.pause_nodes, done=done, offer_id=offer_id)


@require_POST
@supplier_only
def resume(request: HttpRequest, member: SupplierMember, offer_id: int) -> HttpResponse:
    _own(member, offer_id)
    answer = _act_on_nodes(
        request, catalog.resume_nodes, done=_done(member), offer_id=offer_id
    )
    tasks.match_soon()
    return answer


@require_http_methods(["GET", "HEAD", "POST"])
@supplier_only
def remove(request: HttpRequest, member: SupplierMember, offer_id: int) -> HttpResponse:
    row = _row(member, offer_id)
    if request.method != "POST":
        context = {"member": member, "row": row}
        return render(request, "suppliers/node_remove.html", context)
    done = _("Removed from the list. What runs on these nodes goes on to its end.")
    return _act_on_nodes(request, catalog.remove_nodes, done=done, offer_id=offer_id)


@require_POST
@supplier_only
def confirm_asks(request: HttpRequest, member: SupplierMember) -> HttpResponse:
    offers = listed_offers(member.supplier_id, at=clock.now())
    return _act_on_nodes(
        request,
        catalog.confirm_prices,
        done=_("Noted: your asks are true as of now."),
        offer_ids=[offer.pk for offer in offers],
    )


def _act_on_nodes(
    request: HttpRequest, verb: Callable[..., Any], *, done: str, **told: Any
) -> HttpResponse:
    act(request, verb, done=done, refusals=(), **told)
    return redirect("marketplace:supplier_nodes")


@require_safe
@supplier_only
def nodes_csv(request: HttpRequest, member: SupplierMember) -> HttpResponseBase:
    at = clock.now()
    lines = node_files.written_nodes(supplier_id=member.supplier_id, at=at)
    return csv_response(lines, name=f"nodes-{at:%Y-%m-%d}.csv")


@require_http_methods(["GET", "HEAD", "POST"])
@supplier_only
def upload(request: HttpRequest, member: SupplierMember) -> HttpResponse:
    form = csv_file_form(request)
    if file := kept_file(
        request, form, catalog.keep_node_file, supplier_id=member.supplier_id
    ):
        return redirect("marketplace:supplier_file", file_id=file.pk)
    files = NodeFile.objects.filter(supplier=member.supplier_id).defer("content")
    context = {
        "member": member,
        "form": form,
        "columns": node_files.COLUMNS,
        "optional": node_files.MAY_BE_EMPTY,
        "files": files.select_related("uploaded_by").order_by("-uploaded_at")[:10],
    }
    status = 422 if form.is_bound else 200
    return render(request, "suppliers/node_upload.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@supplier_only
def node_file(
    request: HttpRequest, member: SupplierMember, file_id: UUID
) -> HttpResponse:
    assert request.user.is_authenticated
    file = get_object_or_404(NodeFile, pk=file_id, supplier=member.supplier_id)
    at = clock.now()
    status = 200
    if request.method == "POST":
        is_done = act(
            request,
            catalog.apply_node_file,
            done=_("All lines of the file are saved."),
            refusals=(
                catalog.FileApplied,
                catalog.NodesRefused,
                catalog.PriceRefused,
            ),
            file_id=file_id,
            actor=request.user,
            digest=request.POST.get("digest", ""),
        )
        if is_done:
            tasks.match_soon()
            return redirect("marketplace:supplier_nodes")
        status = 422
    lines = read_nodes(file.content)
    plan = plan_nodes(lines, supplier_id=member.supplier_id, at=at)
    context = {"member": member, "file": file, "plan": plan}
    return render(request, "suppliers/node_file.html", context, status=status)
