from django.urls import path

from catalog import views

app_name = "catalog"
urlpatterns = [
    path("planner/", views.planner, name="planner"),
    path("gpus/", views.gpus, name="gpus"),
    path("gpus/<slug:slug>/", views.gpu, name="gpu"),
    path("workloads/", views.workloads, name="workloads"),
    path("workloads/<slug:slug>/", views.workload, name="workload"),
]
