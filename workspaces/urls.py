from django.urls import path

from workspaces import views

app_name = "workspaces"
urlpatterns = [
    path("how-billing-works/", views.how_billing_works, name="how_billing_works"),
    path("pilot/", views.pilot, name="pilot"),
    path("workspaces/", views.list_workspaces, name="list"),
    path("workspaces/new/", views.request_workspace, name="request"),
    path("workspaces/quotes/<uuid:quote_id>/", views.show_quote, name="quote"),
    path("workspaces/quotes/<uuid:quote_id>/fund/", views.fund, name="fund"),
    path("workspaces/quotes/<uuid:quote_id>/again/", views.quote_again, name="again"),
    path("workspaces/<uuid:workspace_id>/", views.show_workspace, name="detail"),
    path("workspaces/<uuid:workspace_id>/cancel/", views.cancel, name="cancel"),
    path("workspaces/<uuid:workspace_id>/stop/", views.stop, name="stop"),
    path("workspaces/<uuid:workspace_id>/delete/", views.delete, name="delete"),
]
