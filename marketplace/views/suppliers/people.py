from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from marketplace.models import SupplierMember
from marketplace.suppliers.companies import CompanyRefused
from marketplace.suppliers.forms import InvitationForm
from marketplace.suppliers.people import invite_person, remove_person
from marketplace.views.suppliers.acting import act, proven_owner_only


@require_http_methods(["GET", "HEAD", "POST"])
@proven_owner_only
def people(request: HttpRequest, member: SupplierMember) -> HttpResponse:
    form = InvitationForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        act(
            request,
            invite_person,
            done=_("Invited: the person finds a link in the mail."),
            refusals=(CompanyRefused,),
            supplier_id=member.supplier_id,
            actor=request.user,
            **form.cleaned_data,
        )
        return redirect("marketplace:supplier_people")
    rows = SupplierMember.objects.filter(supplier=member.supplier_id)
    context = {"member": member, "form": form, "people": rows.order_by("invited_at")}
    status = 422 if form.is_bound else 200
    return render(request, "suppliers/people.html", context, status=status)


@require_POST
@proven_owner_only
def remove(
    request: HttpRequest, member: SupplierMember, member_id: int
) -> HttpResponse:
    try:
        act(
            request,
            remove_person,
            done=_("Removed."),
            refusals=(CompanyRefused,),
            supplier_id=member.supplier_id,
            member_id=member_id,
            actor=request.user,
        )
    except SupplierMember.DoesNotExist as error:
        raise Http404 from error
    if member_id == member.pk:
        return redirect("marketplace:dashboard")
    return redirect("marketplace:supplier_people")
