from django.urls import path

from catalog.api.reference import api_reference
from catalog.views import (
    availability,
    cards,
    estimates,
    gpus,
    guides,
    planner,
    price_history,
    workloads,
)

app_name = "catalog"
urlpatterns = [
    path("planner/", planner.planner, name="planner"),
    path("planner/config/", planner.planner_config, name="planner_config"),
    path("how-good-are-our-estimates/", estimates.estimates, name="estimates"),
    path(
        "how-good-are-our-estimates.csv",
        estimates.estimates_csv,
        name="estimates_csv",
    ),
    path("gpus/", gpus.gpus, name="gpus"),
    path("gpus/compare/", gpus.compare_gpus, name="compare"),
    path("gpus/<slug:slug>/", gpus.gpu, name="gpu"),
    path(
        "gpus/<slug:slug>/prices.csv",
        price_history.gpu_prices_csv,
        name="gpu_prices_csv",
    ),
    path("api/", api_reference, name="api"),
    path("availability/", availability.availability, name="availability"),
    path("availability/alerts/", availability.ask_for_alert, name="ask_for_alert"),
    path(
        "availability/alerts/<uuid:alert_id>/stop/",
        availability.stop_alert,
        name="stop_alert",
    ),
    path("workloads/", workloads.workloads, name="workloads"),
    path("workloads/<slug:slug>/", workloads.workload, name="workload"),
    path("workloads/<slug:slug>/card.png", cards.workload_card, name="workload_card"),
    path("gpus/<slug:slug>/card.png", cards.gpu_card, name="gpu_card"),
    path("staff/guides/", guides.guide_texts, name="guide_texts"),
    path(
        "staff/guides/<slug:slug>/<slug:language>/",
        guides.guide_versions,
        name="guide_versions",
    ),
    path(
        "staff/guides/<slug:slug>/<slug:language>/<int:number>/",
        guides.guide_preview,
        name="guide_preview",
    ),
    path(
        "staff/guides/<slug:slug>/<slug:language>/<int:number>/edit/",
        guides.guide_edit,
        name="guide_edit",
    ),
    path(
        "staff/guides/<slug:slug>/<slug:language>/<int:number>/publish/",
        guides.guide_publish,
        name="guide_publish",
    ),
]
