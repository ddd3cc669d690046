from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import (
    require_http_methods,
    require_POST,
    require_safe,
)

import clock
from catalog import services
from catalog.availability import read_matrix
from catalog.models import GpuModel, Region, StockAlert
from limits import limited


@require_safe
@login_not_required
def availability(request: HttpRequest) -> HttpResponse:
    matrix = read_matrix(at=clock.now(), user_id=request.user.pk)
    cells = [cell for row in matrix.rows for cell in row.cells if cell.alert]
    context = {"matrix": matrix, "alerts": cells, "most": services.MOST_ALERTS}
    return render(request, "catalog/availability.html", context)


@require_POST
@limited(a_minute=30)
def ask_for_alert(request: HttpRequest) -> HttpResponse:
    assert request.user.is_authenticated
    gpu_slug, _space, region_slug = request.POST.get("place", "").partition(" ")
    gpu = get_object_or_404(GpuModel, slug=gpu_slug)
    region = get_object_or_404(Region, slug=region_slug)
    try:
        services.ask_for_alert(
            user_id=request.user.pk, gpu_id=gpu.pk, region_id=region.pk, at=clock.now()
        )
    except (services.InStock, services.TooManyAlerts) as refusal:
        messages.error(request, str(refusal))
    else:
        text = _("You get one e-mail when %(gpu)s is back in %(region)s.")
        messages.success(request, text % {"gpu": gpu.label, "region": _(region.city)})
    return redirect("catalog:availability")


# The id in the address is the proof, so that one click in a mail program is enough.
@csrf_exempt
@require_http_methods(["GET", "HEAD", "POST"])
@login_not_required
def stop_alert(request: HttpRequest, alert_id: UUID) -> HttpResponse:
    if request.method == "POST":
        services.stop_alert(alert_id=alert_id)
        messages.success(request, _("You get no more e-mails about this GPU."))
        return redirect("catalog:availability")
    alerts = StockAlert.objects.select_related("gpu", "region")
    context = {"alert": alerts.filter(pk=alert_id).first()}
    return render(request, "catalog/stop_alert.html", context)
