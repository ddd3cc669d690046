"""
How a business becomes a supplier, and the front page of its desk.
"""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import (
    require_http_methods,
    require_POST,
    require_safe,
)

import clock
from marketplace.models import SupplierMember
from marketplace.suppliers import companies, people
from marketplace.suppliers.desk import fee_example, overview_of
from marketplace.suppliers.forms import CompanyForm


@require_safe
def desk(request: HttpRequest) -> HttpResponse:
    assert request.user.is_authenticated
    member = people.member_of(request.user)
    if member is not None:
        context: dict[str, Any] = {
            "member": member,
            "desk": overview_of(member.supplier, at=clock.now()),
        }
        return render(request, "suppliers/desk.html", context)
    invitations = list(people.invitations_of(request.user))
    if not invitations:
        return redirect("marketplace:supplier_apply")
    context = {"invitations": invitations}
    return render(request, "suppliers/invitations.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@login_not_required
def apply(request: HttpRequest) -> HttpResponse:
    member = people.member_of(request.user) if request.user.is_authenticated else None
    if member is not None:
        return _change(request, member)
    is_sent = request.method == "POST" and request.user.is_authenticated
    form = CompanyForm(request.POST if is_sent else None)
    if form.is_valid() and request.user.is_authenticated:
        try:
            companies.apply_as_supplier(
                user=request.user, data=form.data_of_company(), at=clock.now()
            )
        except companies.NameTaken as error:
            form.add_error("name", str(error))
        except companies.CompanyRefused as error:
            form.add_error(None, str(error))
        else:
            messages.success(
                request, _("Your application is here. We check it and write to you.")
            )
            return redirect("marketplace:supplier")
    return _show(request, form)


def _change(request: HttpRequest, member: SupplierMember) -> HttpResponse:
    assert request.user.is_authenticated
    company = member.supplier.company
    if not (company.may_be_changed and member.is_owner):
        return redirect("marketplace:supplier")
    form = CompanyForm(
        request.POST if request.method == "POST" else None,
        initial=CompanyForm.initial_of(company),
    )
    if form.is_valid():
        try:
            companies.change_company(
                supplier_id=member.supplier_id,
                data=form.data_of_company(),
                actor=request.user,
                at=clock.now(),
            )
        except companies.NameTaken as error:
            form.add_error("name", str(error))
        except companies.CompanyRefused as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, _("Saved: we look at it again."))
            return redirect("marketplace:supplier")
    return _show(request, form, company=company)


def _show(request: HttpRequest, form: CompanyForm, **context: Any) -> HttpResponse:
    context |= {"form": form, "fee": fee_example()}
    status = 422 if form.is_bound else 200
    return render(request, "suppliers/apply.html", context, status=status)


@require_POST
def join(request: HttpRequest, member_id: int) -> HttpResponse:
    assert request.user.is_authenticated
    try:
        people.join_supplier(user=request.user, member_id=member_id, at=clock.now())
    except SupplierMember.DoesNotExist as error:
        raise Http404 from error
    except companies.CompanyRefused as error:
        messages.error(request, str(error))
    else:
        messages.success(request, _("You act for this supplier now."))
    return redirect("marketplace:supplier")
