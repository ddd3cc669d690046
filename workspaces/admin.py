"""
Support tooling: look a request or workspace up. Nothing is changed here by hand, as
each move belongs to a service that also moves its money.
"""

from typing import Any

from django.contrib import admin
from django.db import models
from django.http import HttpRequest

from workspaces.models import Quote, Workspace, WorkspaceEvent


class ReadOnly(admin.ModelAdmin):
    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class EventInline(admin.TabularInline):
    model = WorkspaceEvent
    fields = ["at", "state", "code", "actor", "reason", "held", "returned"]
    readonly_fields = ["at", "state", "code", "actor", "reason", "held", "returned"]
    extra = 0
    can_delete = False
    ordering = ["pk"]

    def get_queryset(self, request: HttpRequest) -> models.QuerySet[Any]:
        return super().get_queryset(request).select_related("actor")

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Workspace)
class WorkspaceAdmin(ReadOnly):
    list_display = ["code", "user", "state", "gpu", "gpus", "funded_at", "ends_at"]
    list_filter = ["state", "gpu", "currency"]
    list_select_related = ["user", "gpu", "compute_meter"]
    search_fields = ["id", "user__email", "base_model__hf_id"]
    search_help_text = "Id, e-mail address or model"
    date_hierarchy = "funded_at"
    ordering = ["-funded_at"]
    inlines = [EventInline]


@admin.register(Quote)
class QuoteAdmin(ReadOnly):
    list_display = ["id", "user", "gpu", "gpus", "hours", "hold_amount", "created_at"]
    list_filter = ["gpu", "currency", "verdict"]
    list_select_related = ["user", "gpu"]
    search_fields = ["id", "user__email"]
    date_hierarchy = "created_at"
    ordering = ["-created_at"]
