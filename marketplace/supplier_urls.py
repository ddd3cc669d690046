"""
The pages of suppliers, and of staff about them; they belong to marketplace.urls.
"""

from django.urls import path

from marketplace.views.suppliers import (
    application,
    demand,
    money,
    nodes,
    people,
    staff,
    starts,
)

urlpatterns = [
    path("supplier/", application.desk, name="supplier"),
    path("supplier/apply/", application.apply, name="supplier_apply"),
    path("supplier/join/<int:member_id>/", application.join, name="supplier_join"),
    path("supplier/nodes/", nodes.nodes, name="supplier_nodes"),
    path("supplier/nodes/add/", nodes.add, name="supplier_add"),
    path("supplier/nodes/confirm/", nodes.confirm_asks, name="supplier_confirm"),
    path("supplier/nodes/nodes.csv", nodes.nodes_csv, name="supplier_nodes_csv"),
    path("supplier/nodes/files/", nodes.upload, name="supplier_files"),
    path("supplier/nodes/files/<uuid:file_id>/", nodes.node_file, name="supplier_file"),
    path("supplier/nodes/<int:offer_id>/", nodes.change, name="supplier_change"),
    path("supplier/nodes/<int:offer_id>/pause/", nodes.pause, name="supplier_pause"),
    path("supplier/nodes/<int:offer_id>/resume/", nodes.resume, name="supplier_resume"),
    path("supplier/nodes/<int:offer_id>/remove/", nodes.remove, name="supplier_remove"),
    path("supplier/starts/", starts.starts, name="supplier_starts"),
    path("supplier/starts/<uuid:workspace_id>/", starts.start, name="supplier_start"),
    path(
        "supplier/starts/<uuid:workspace_id>/refuse/",
        starts.refuse_start,
        name="supplier_refuse_start",
    ),
    path(
        "supplier/starts/<uuid:workspace_id>/interrupt/",
        starts.interrupt,
        name="supplier_interrupt",
    ),
    path("supplier/earnings/", money.earnings, name="supplier_earnings"),
    path(
        "supplier/earnings/statement.csv",
        money.statement_csv,
        name="supplier_statement_csv",
    ),
    path("supplier/bank/", money.bank, name="supplier_bank"),
    path("supplier/people/", people.people, name="supplier_people"),
    path(
        "supplier/people/<int:member_id>/remove/",
        people.remove,
        name="supplier_remove_person",
    ),
    path("supplier/demand/", demand.board, name="supplier_demand"),
    path("supplier/demand/demand.csv", demand.board_csv, name="supplier_demand_csv"),
    path("staff/demand/", demand.staff_board, name="staff_demand"),
    path("staff/demand/demand.csv", demand.staff_csv, name="staff_demand_csv"),
    path("staff/suppliers/", staff.suppliers, name="staff_suppliers"),
    path("staff/suppliers/<slug:slug>/", staff.supplier, name="staff_supplier"),
    path(
        "staff/suppliers/<slug:slug>/check/", staff.check, name="staff_supplier_check"
    ),
    path(
        "staff/suppliers/<slug:slug>/verify/",
        staff.verify,
        name="staff_supplier_verify",
    ),
    *(
        path(
            f"staff/suppliers/<slug:slug>/{step}/",
            staff.decide,
            {"step": step},
            name=f"staff_supplier_{step}",
        )
        for step in staff.STEPS
    ),
]
