import logging
from collections.abc import Mapping
from typing import Any, ClassVar

from allauth.usersessions.models import UserSession
from django.contrib import admin, messages
from django.db import models
from django.forms import ModelForm
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from billing import services as billing
from catalog.admin.base import ReadOnly
from marketplace.models import (
    Company,
    CompanyEvent,
    Launch,
    LaunchEvent,
    Match,
    User,
)
from marketplace.suppliers.companies import party_of

logger = logging.getLogger(__name__)


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
    actions = ["log_out_everywhere"]

    @admin.action(description=_("Log out everywhere, at once"), permissions=["change"])
    def log_out_everywhere(
        self, request: HttpRequest, queryset: models.QuerySet[User]
    ) -> None:
        for person in queryset:
            if not self.has_change_permission(request, person):
                continue
            sessions = UserSession.objects.filter(user=person)
            count = len(sessions)
            for session in sessions:
                session.end()
            self.log_change(request, person, f"Ended {count} sessions")
        self.message_user(request, _("They are logged out."), messages.SUCCESS)

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
class LaunchAdmin(ReadOnly, admin.ModelAdmin):
    list_display = ["opens_at", "opened_at", "paused_at", "pause_reason"]


@admin.register(LaunchEvent)
class LaunchEventAdmin(ReadOnly, admin.ModelAdmin):
    list_display = ["at", "kind", "actor", "opens_at", "reason"]
    list_select_related = ["actor"]


@admin.register(Match)
class MatchAdmin(ReadOnly, admin.ModelAdmin):
    list_display = ["sequence", "workspace", "offer", "hourly_price", "matched_at"]
    list_select_related = ["workspace", "offer"]


class CompanyEventInline(ReadOnly, admin.TabularInline):
    model = CompanyEvent
    fields = ["at", "kind", "actor", "detail"]
    ordering = ["-pk"]

    def get_queryset(self, request: HttpRequest) -> models.QuerySet[CompanyEvent]:
        return super().get_queryset(request).select_related("actor")


@admin.register(Company)
class CompanyAdmin(ReadOnly, admin.ModelAdmin):
    """
    Looks a company up; it is checked and decided on the staff's own pages.
    """

    list_display = ["legal_name", "supplier", "country", "state", "applied_at"]
    list_filter = ["state", "country"]
    list_select_related = ["supplier"]
    search_fields = [
        "legal_name",
        "supplier__name",
        "=registration_number",
        "=vat_id",
        "supplier__members__email",
    ]
    search_help_text = _("Name, number or e-mail address of somebody who acts for it")
    date_hierarchy = "applied_at"
    ordering = ["-applied_at"]
    readonly_fields = ["people", "payouts_go_to"]
    inlines = [CompanyEventInline]
    formfield_overrides: ClassVar[Mapping[Any, Mapping[str, Any]]] = {
        models.URLField: {"assume_scheme": "https"}
    }

    @admin.display(description=_("people"))
    def people(self, company: Company) -> str:
        members = company.supplier.members.order_by("pk")
        return ", ".join(f"{one.email} ({one.role})" for one in members)

    @admin.display(description=_("payouts go to"))
    def payouts_go_to(self, company: Company) -> str:
        accounts = billing.bank_accounts_of(party=party_of(company.supplier))
        return ", ".join(
            f"{account.currency} {account.masked_number}" for account in accounts
        )
