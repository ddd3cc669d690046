from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

import clock
from access import demo_only, staff_only
from catalog.models import PriceProposal
from marketplace import services, tasks
from marketplace.forms import ClockForm, OpeningForm, PauseForm
from marketplace.models import Launch, LaunchEvent, Match


@require_safe
@staff_only
def index(request: HttpRequest) -> HttpResponse:
    context = {"waiting_prices": PriceProposal.objects.waiting().count()}
    return render(request, "marketplace/staff/index.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def launch(request: HttpRequest) -> HttpResponse:
    assert request.user.is_authenticated
    at = clock.now()
    form = OpeningForm(request.POST or None, instance=Launch.objects.current(), at=at)
    if form.is_valid():
        services.plan_opening(
            actor=request.user, opens_at=form.cleaned_data["opens_at"], at=at
        )
        messages.success(request, _("The planned opening is saved."))
        return redirect("marketplace:staff_launch")
    context = {
        "form": form,
        "row": Launch.objects.current(),
        "preview": services.preview_opening(at=at),
        "matches": Match.objects.count(),
        "events": LaunchEvent.objects.select_related("actor").order_by("-pk")[:20],
    }
    status = 422 if form.is_bound else 200
    return render(request, "marketplace/staff/launch.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def open_market(request: HttpRequest) -> HttpResponse:
    assert request.user.is_authenticated
    at = clock.now()
    if request.method != "POST":
        preview = services.preview_opening(at=at)
        context = {"preview": preview, "waiting": sum(run.waiting for run in preview)}
        return render(request, "marketplace/staff/open.html", context)
    services.open_doors(actor=request.user, at=at)
    tasks.match_soon()
    messages.success(
        request, _("The market is open. Requests are being matched; reload to see how.")
    )
    return redirect("marketplace:staff_launch")


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def pause_market(request: HttpRequest) -> HttpResponse:
    assert request.user.is_authenticated
    form = PauseForm(request.POST or None)
    if form.is_valid():
        try:
            services.pause_market(
                actor=request.user, reason=form.cleaned_data["reason"], at=clock.now()
            )
        except (services.NotOpen, services.ReasonMissing) as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, _("The market is paused."))
            return redirect("marketplace:staff_launch")
    status = 422 if form.is_bound else 200
    context = {"form": form}
    return render(request, "marketplace/staff/pause.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
@demo_only
def move_clock(request: HttpRequest) -> HttpResponse:
    form = ClockForm(request.POST or None)
    if form.is_valid():
        clock.move_forward(by=form.step())
        messages.success(request, _("The clock was moved forward."))
        return redirect("marketplace:staff_clock")
    context = {
        "now": clock.now(),
        "offset": clock.demo_offset(),
        "steps": ClockForm.STEPS,
    }
    status = 422 if form.is_bound else 200
    return render(request, "marketplace/staff/clock.html", context, status=status)
