"""
What search engines ask for: robots.txt and sitemap.xml.
"""

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.contrib.sitemaps.views import sitemap as django_sitemap
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from catalog.sitemaps import SITEMAPS, PagesSitemap

# Pages of one person, and pages that say nothing without a log-in.
CLOSED = ("account", "admin", "staff", "webhooks")


@require_safe
@login_not_required
def robots(request: HttpRequest) -> HttpResponse:
    prefixes = ["/", *(f"/{code}/" for code, _ in settings.LANGUAGES[1:])]
    lines = [
        "User-agent: *",
        *(f"Disallow: {prefix}{name}/" for name in CLOSED for prefix in prefixes),
        "Disallow: /api/v1/",
        "",
        f"Sitemap: {settings.SITE_URL}/sitemap.xml",
    ]
    text = "\n".join(lines) + "\n"
    return HttpResponse(text, content_type="text/plain; charset=utf-8")


@require_safe
@login_not_required
def sitemap(request: HttpRequest) -> HttpResponse:
    site = PagesSitemap(
        "marketplace:home",
        "marketplace:market",
        "workspaces:how_billing_works",
        "marketplace:how_matching_works",
    )
    return django_sitemap(request, sitemaps={"site": site, **SITEMAPS})
