"""
Where staff look into companies and decide about them.
"""

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST, require_safe

import clock
from access import staff_only
from billing import services as billing
from marketplace.models import Check, Company, SupplierMember
from marketplace.suppliers import companies
from marketplace.suppliers.companies import CompanyRefused, party_of
from marketplace.suppliers.desk import node_rows
from marketplace.suppliers.forms import CheckForm, ReasonForm
from marketplace.views.suppliers.acting import act

STEPS: dict[str, tuple[Callable[..., Any], str, Any]] = {
    "ask": (
        companies.ask_company,
        "question",
        gettext_lazy("Asked: the supplier has a mail and can change its data."),
    ),
    "refuse": (
        companies.refuse_company,
        "reason",
        gettext_lazy("Refused: the supplier has a mail with the reason."),
    ),
    "suspend": (
        companies.suspend_company,
        "reason",
        gettext_lazy("Suspended: its offers are off the list; rentals go on."),
    ),
}


@require_safe
@staff_only
def suppliers(request: HttpRequest) -> HttpResponse:
    rows = Company.objects.select_related("supplier").order_by("-applied_at")
    waiting = {Company.State.APPLIED, Company.State.ASKED}
    context = {
        "waiting": [row for row in rows if row.state in waiting],
        "decided": [row for row in rows if row.state not in waiting],
    }
    return render(request, "suppliers/staff/list.html", context)


@require_safe
@staff_only
def supplier(request: HttpRequest, slug: str) -> HttpResponse:
    company = _company(slug)
    at = clock.now()
    context = {
        "company": company,
        "checks": [(check, check in company.passed_checks) for check in Check],
        "form": ReasonForm(),
        "events": company.events.select_related("actor").order_by("-pk")[:50],
        "people": SupplierMember.objects.filter(supplier=company.pk),
        "rows": node_rows(company.supplier, at=at),
        "standings": billing.standings_of(party=party_of(company.supplier), at=at),
    }
    return render(request, "suppliers/staff/detail.html", context)


@require_POST
@staff_only
def check(request: HttpRequest, slug: str) -> HttpResponse:
    company = _company(slug)
    form = CheckForm(request.POST)
    if form.is_valid():
        act(
            request,
            companies.note_check,
            done=_("Noted."),
            refusals=(CompanyRefused,),
            supplier_id=company.pk,
            actor=request.user,
            **form.cleaned_data,
        )
    return redirect("marketplace:staff_supplier", slug=slug)


@require_POST
@staff_only
def verify(request: HttpRequest, slug: str) -> HttpResponse:
    act(
        request,
        companies.verify_company,
        done=_("Verified: what it wants to have on the list is there now."),
        refusals=(CompanyRefused,),
        supplier_id=_company(slug).pk,
        actor=request.user,
    )
    return redirect("marketplace:staff_supplier", slug=slug)


@require_POST
@staff_only
def decide(request: HttpRequest, slug: str, step: str) -> HttpResponse:
    company = _company(slug)
    verb, name, done = STEPS[step]
    act(
        request,
        verb,
        done=str(done),
        refusals=(CompanyRefused,),
        supplier_id=company.pk,
        actor=request.user,
        **{name: request.POST.get("reason", "")[:500]},
    )
    return redirect("marketplace:staff_supplier", slug=slug)


def _company(slug: str) -> Company:
    companies_known = Company.objects.select_related("supplier")
    return get_object_or_404(companies_known, supplier__slug=slug)
