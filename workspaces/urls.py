from django.urls import path

from workspaces.views import (
    changes,
    exports,
    keys,
    pages,
    quotes,
    rentals,
    requests,
    staff,
)

app_name = "workspaces"
urlpatterns = [
    path("how-billing-works/", pages.how_billing_works, name="how_billing_works"),
    path("pilot/", pages.pilot, name="pilot"),
    path("ssh-keys/", keys.keys, name="keys"),
    path("ssh-keys/<int:key_id>/remove/", keys.remove_key, name="remove_key"),
    path("workspaces/", rentals.list_workspaces, name="list"),
    path("workspaces/new/", requests.request_workspace, name="request"),
    path("workspaces/drafts/", requests.save_draft, name="save_draft"),
    path(
        "workspaces/drafts/<uuid:draft_id>/delete/",
        requests.delete_draft,
        name="delete_draft",
    ),
    path("workspaces/quotes/<uuid:quote_id>/", quotes.show_quote, name="quote"),
    path("workspaces/quotes/<uuid:quote_id>/fund/", quotes.fund, name="fund"),
    path("workspaces/quotes/<uuid:quote_id>/again/", quotes.quote_again, name="again"),
    path("workspaces/<uuid:workspace_id>/", rentals.show_workspace, name="detail"),
    path("workspaces/<uuid:workspace_id>/cancel/", rentals.cancel, name="cancel"),
    path("workspaces/<uuid:workspace_id>/stop/", rentals.stop, name="stop"),
    path("workspaces/<uuid:workspace_id>/delete/", rentals.delete, name="delete"),
    path("workspaces/<uuid:workspace_id>/extend/", changes.extend, name="extend"),
    path(
        "workspaces/<uuid:workspace_id>/extend/now/",
        changes.extend_now,
        name="extend_now",
    ),
    path(
        "workspaces/<uuid:workspace_id>/auto-extend/",
        changes.auto_extend,
        name="auto_extend",
    ),
    path(
        "workspaces/<uuid:workspace_id>/export/<slug:tool>/",
        exports.export,
        name="export",
    ),
    path("workspaces/<uuid:workspace_id>/resume/", changes.resume, name="resume"),
    path("workspaces/<uuid:workspace_id>/give-up/", changes.give_up, name="give_up"),
    path("staff/machines/", staff.machines, name="machines"),
    path("staff/machines/<uuid:workspace_id>/start/", staff.start, name="staff_start"),
    path("staff/machines/<uuid:workspace_id>/fail/", staff.fail, name="staff_fail"),
    path(
        "staff/machines/<uuid:workspace_id>/interrupt/",
        staff.interrupt,
        name="staff_interrupt",
    ),
    path("staff/differences/", staff.differences, name="differences"),
    path(
        "staff/differences/<int:discrepancy_id>/",
        staff.close_difference,
        name="close_difference",
    ),
]
