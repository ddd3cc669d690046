from django.conf.urls.i18n import i18n_patterns
from django.contrib import admin
from django.urls import include, path

from config.csp_reports import report
from config.health import healthz
from config.search import robots, sitemap

urlpatterns = [
    path("healthz", healthz, name="healthz"),
    path("csp-reports", report, name="csp_reports"),
    path("robots.txt", robots, name="robots"),
    path("sitemap.xml", sitemap, name="sitemap"),
    path("admin/", admin.site.urls),
    path("webhooks/", include("billing.webhook_urls")),
    path("api/v1/", include("catalog.api.urls")),
    *i18n_patterns(
        path("account/", include("allauth.urls")),
        path("", include("marketplace.urls")),
        path("", include("catalog.urls")),
        path("", include("billing.urls")),
        path("", include("workspaces.urls")),
        prefix_default_language=False,
    ),
]

handler429 = "config.errors.too_many"
handler500 = "config.errors.broken"
