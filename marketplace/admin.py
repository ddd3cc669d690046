import logging
from typing import Any

from django.contrib import admin
from django.forms import ModelForm
from django.http import HttpRequest

from marketplace.models import Launch, LaunchEvent, Match, User

logger = logging.getLogger(__name__)


class ReadOnlyAdmin(admin.ModelAdmin):
    """
    A table that is read here and written by services alone.
    """

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(User)
class UserAdmin(admin.ModelAdmin):
    """
    People, without their passwords: those are reset by mail.
    """

    list_display = ["email", "name", "is_staff", "is_active", "date_joined"]
    list_filter = ["is_staff", "is_active", "language"]
    search_fields = ["email", "name"]
    ordering = ["-date_joined"]
    fields = [
        "email",
        "name",
        "language",
        "currency",
        "time_zone",
        "is_active",
        "is_staff",
        "is_superuser",
        "groups",
        "date_joined",
        "last_login",
    ]
    filter_horizontal = ["groups"]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        given = ["email", "date_joined", "last_login"]
        if request.user.is_superuser:
            return given
        # Nobody makes themselves, or a friend, more than they are.
        return [*given, "is_staff", "is_superuser", "groups"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        # Who is not a superuser cannot shut one out either.
        is_above = obj and obj.is_superuser and not request.user.is_superuser
        return not is_above and super().has_change_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def save_model(
        self, request: HttpRequest, obj: User, form: ModelForm, change: bool
    ) -> None:
        super().save_model(request, obj, form, change)
        if rights := {"is_staff", "is_superuser", "groups"} & set(form.changed_data):
            logger.critical(
                "The rights of user %d were changed: %s", obj.pk, ", ".join(rights)
            )


@admin.register(Launch)
class LaunchAdmin(ReadOnlyAdmin):
    list_display = ["opens_at", "opened_at", "paused_at", "pause_reason"]


@admin.register(LaunchEvent)
class LaunchEventAdmin(ReadOnlyAdmin):
    list_display = ["at", "kind", "actor", "opens_at", "reason"]
    list_select_related = ["actor"]


@admin.register(Match)
class MatchAdmin(ReadOnlyAdmin):
    list_display = ["sequence", "workspace", "offer", "hourly_price", "matched_at"]
    list_select_related = ["workspace", "offer"]
