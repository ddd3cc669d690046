from django.urls import path

from catalog.views import estimates, gpus, planner, workloads

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
    path("gpus/<slug:slug>/", gpus.gpu, name="gpu"),
    path("workloads/", workloads.workloads, name="workloads"),
    path("workloads/<slug:slug>/", workloads.workload, name="workload"),
]
