"""
Where staff write the guides: every text, its versions, the form, the preview.
"""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _
from django.views.decorators.http import (
    require_http_methods,
    require_POST,
    require_safe,
)

import clock
from access import staff_only
from catalog.forms.guides import GuideForms
from catalog.guide_versions import content_of, publish_version, save_version
from catalog.guides import preview_guide
from catalog.models import Workload, WorkloadText
from catalog.views.workloads import guide_context


@require_safe
@staff_only
def guide_texts(request: HttpRequest) -> HttpResponse:
    texts = WorkloadText.objects.select_related("workload", "created_by")
    shown, newest = {}, {}
    for text in texts.order_by("number"):
        key = (text.workload_id, text.language)
        newest[key] = text
        if text.is_published:
            shown[key] = text
    workloads = Workload.objects.order_by("position")
    rows = [
        {
            "workload": workload,
            "language": code,
            "language_name": name,
            "shown": shown.get((workload.pk, code)),
            "newest": newest.get((workload.pk, code)),
            "page": _page(workload, code),
        }
        for workload in workloads
        for code, name in settings.LANGUAGES
    ]
    return render(request, "catalog/staff/guides.html", {"rows": rows})


@require_safe
@staff_only
def guide_versions(request: HttpRequest, slug: str, language: str) -> HttpResponse:
    versions = _texts(slug, language).select_related("created_by", "published_by")
    context = {**_names(slug, language), "versions": versions.order_by("-number")}
    return render(request, "catalog/staff/versions.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def guide_edit(
    request: HttpRequest, slug: str, language: str, number: int
) -> HttpResponse:
    assert request.user.is_authenticated
    start = get_object_or_404(_texts(slug, language), number=number)
    forms = GuideForms(request.POST or None, start=content_of(start))
    if request.method == "POST" and forms.is_valid():
        saved = save_version(
            workload_id=start.workload_id,
            language=language,
            content=forms.content(),
            note=forms.note,
            actor=request.user,
            at=clock.now(),
        )
        messages.success(
            request, _("The new version is saved. Readers do not see it yet.")
        )
        return redirect("catalog:guide_preview", slug, language, saved.number)
    newest = _texts(slug, language).order_by("-number").first()
    context = {
        **_names(slug, language),
        "forms": forms,
        "start": start,
        "is_older": newest is not None and newest.number != start.number,
    }
    status = 422 if forms.has_errors else 200
    return render(request, "catalog/staff/edit.html", context, status=status)


@require_safe
@staff_only
def guide_preview(
    request: HttpRequest, slug: str, language: str, number: int
) -> HttpResponse:
    texts = _texts(slug, language).select_related(
        "workload__example_gpu", "workload__example_supplier"
    )
    text = get_object_or_404(texts, number=number)
    with translation.override(language):
        guide = preview_guide(text, at=clock.now())
        context = {**guide_context(request, guide), "preview": True}
        return render(request, "catalog/workload.html", context)


@require_POST
@staff_only
def guide_publish(
    request: HttpRequest, slug: str, language: str, number: int
) -> HttpResponse:
    assert request.user.is_authenticated
    text = get_object_or_404(_texts(slug, language), number=number)
    publish_version(text_id=text.pk, actor=request.user, at=clock.now())
    done = _("Version %(number)s is what readers see now.") % {"number": number}
    messages.success(request, done)
    return redirect(reverse("catalog:guide_versions", args=[slug, language]))


def _page(workload: Workload, language: str) -> str:
    with translation.override(language):
        return reverse("catalog:workload", args=[workload.slug])


def _texts(slug: str, language: str) -> Any:
    return WorkloadText.objects.filter(workload__slug=slug, language=language)


def _names(slug: str, language: str) -> dict[str, Any]:
    """
    Return what pages of one text call it.

    :raises Http404: if there is no such guide or language
    """
    names = dict(settings.LANGUAGES)
    if language not in names:
        raise Http404
    workload = get_object_or_404(Workload, slug=slug)
    newest = _texts(slug, language).order_by("-number").first()
    return {
        "workload": workload,
        "language": language,
        "language_name": names[language],
        "title": newest.title if newest else workload.slug,
    }
