from typing import Any, ClassVar

from django.contrib import admin, messages
from django.db import models
from django.forms import ModelForm
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from billing.models import (
    Account,
    BankAccount,
    BillingProfile,
    Charge,
    Dispute,
    Hold,
    Invoice,
    Meter,
    MeterFault,
    Payout,
    ProviderEvent,
    ProviderMovement,
    Refund,
    TopUp,
    Transfer,
    VatRate,
    Wallet,
    WalletEvent,
)
from billing.services.parties import OwnAccount, approve_bank_account


class ReadOnlyAdmin(admin.ModelAdmin):
    """
    A table of the books: read here, written by services alone, by superusers too.
    """

    show_full_result_count = False
    list_per_page = 50
    ordering = ["-pk"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Account)
class AccountAdmin(ReadOnlyAdmin):
    list_display = ["kind", "party", "balance", "may_go_negative"]
    list_filter = ["kind", "currency"]
    search_fields = ["party"]


@admin.register(Transfer)
class TransferAdmin(ReadOnlyAdmin):
    list_display = ["happened_at", "kind", "amount", "debit", "credit", "reference"]
    list_filter = ["kind", "currency"]
    list_select_related = ["debit", "credit"]
    search_fields = ["=reference", "=key"]
    # Sorting millions of rows by another column would hold the page up for minutes.
    sortable_by: ClassVar[list[str]] = []


@admin.register(Wallet)
class WalletAdmin(ReadOnlyAdmin):
    list_display = ["user", "currency", "free", "set_aside", "frozen_at"]
    list_filter = ["currency"]
    list_select_related = ["user", "available", "held"]
    search_fields = ["user__email"]

    @admin.display(description="available")
    def free(self, wallet: Wallet) -> str:
        return str(wallet.available.balance)

    @admin.display(description="held")
    def set_aside(self, wallet: Wallet) -> str:
        return str(wallet.held.balance)


@admin.register(WalletEvent)
class WalletEventAdmin(ReadOnlyAdmin):
    list_display = ["at", "wallet", "kind", "reason", "actor"]
    list_filter = ["kind"]
    list_select_related = ["actor", "wallet"]


@admin.register(Hold)
class HoldAdmin(ReadOnlyAdmin):
    list_display = ["reference", "amount", "captured", "released", "status"]
    list_filter = ["status"]
    search_fields = ["=reference"]


@admin.register(Meter)
class MeterAdmin(ReadOnlyAdmin):
    list_display = ["name", "hold", "rate", "units", "started_at", "billed_until"]
    list_select_related = ["hold"]
    search_fields = ["=hold__reference"]


@admin.register(Charge)
class ChargeAdmin(ReadOnlyAdmin):
    list_display = ["hour", "meter", "seconds", "amount", "fee_amount"]
    list_select_related = ["meter"]
    search_fields = ["=meter__hold__reference"]
    sortable_by: ClassVar[list[str]] = []


@admin.register(MeterFault)
class MeterFaultAdmin(ReadOnlyAdmin):
    list_display = ["kind", "meter", "detail", "first_seen_at", "resolved_at"]
    list_filter = ["kind"]
    list_select_related = ["meter"]


@admin.register(TopUp)
class TopUpAdmin(ReadOnlyAdmin):
    list_display = ["created_at", "email", "total", "net", "vat", "country", "status"]
    list_filter = ["status", "provider", "is_vat_pending"]
    search_fields = ["email", "=provider_ref", "=payment_id"]


class GoneBackAdmin(ReadOnlyAdmin):
    """
    What went back of a top-up.
    """

    list_filter = ["status"]
    list_select_related = ["top_up"]


@admin.register(Refund)
class RefundAdmin(GoneBackAdmin):
    list_display = ["created_at", "top_up", "total", "status", "failure"]


@admin.register(Dispute)
class DisputeAdmin(GoneBackAdmin):
    list_display = ["opened_at", "top_up", "total", "reason", "status"]


@admin.register(Invoice)
class InvoiceAdmin(ReadOnlyAdmin):
    list_display = ["code", "issued_at", "buyer_name", "net", "vat", "total"]
    list_filter = ["kind", "year", "buyer_country", "vat_treatment"]
    search_fields = ["=number", "buyer_name", "=buyer_vat_id"]


@admin.register(ProviderEvent)
class ProviderEventAdmin(ReadOnlyAdmin):
    list_display = ["received_at", "provider", "type", "state", "tries", "note"]
    list_filter = ["state", "provider"]
    search_fields = ["=event_id"]


@admin.register(ProviderMovement)
class ProviderMovementAdmin(ReadOnlyAdmin):
    list_display = ["happened_at", "provider", "kind", "amount", "fee", "payment_id"]
    list_filter = ["category", "provider", "currency"]
    search_fields = ["=ref", "=source", "=payment_id"]


@admin.register(BillingProfile)
class BillingProfileAdmin(ReadOnlyAdmin):
    list_display = ["user", "country", "is_business", "name", "vat_id", "vat_id_status"]
    list_filter = ["vat_id_status"]
    list_select_related = ["user"]
    search_fields = ["user__email", "=vat_id"]


@admin.register(VatRate)
class VatRateAdmin(admin.ModelAdmin):
    """
    The one table of the money that staff edit: add a row when a rate changes.
    """

    list_display = ["country", "rate", "valid_from", "source", "as_of"]
    list_filter = ["country"]
    ordering = ["country", "-valid_from"]


@admin.register(BankAccount)
class BankAccountAdmin(admin.ModelAdmin):
    """
    Where payouts go: a payout that was made keeps the account of its day.
    """

    list_display = [
        "party",
        "currency",
        "holder",
        "ending",
        "bank_code",
        "entered_by",
        "approved_by",
    ]
    list_select_related = ["entered_by", "approved_by"]
    readonly_fields = ["entered_by", "approved_by"]
    actions = ["approve"]
    list_filter = ["currency"]
    search_fields = ["party", "holder"]
    ordering = ["party", "currency"]

    @admin.display(description=_("IBAN or account number"))
    def ending(self, account: BankAccount) -> str:
        return account.masked_number

    def save_model(
        self, request: HttpRequest, obj: BankAccount, form: ModelForm, change: bool
    ) -> None:
        assert request.user.is_authenticated  # The admin lets nobody else in.
        if not change or form.changed_data:
            obj.entered_by, obj.approved_by = request.user, None
            text = _("Payouts wait until a second member of staff approves it.")
            self.message_user(request, text, messages.WARNING)
        super().save_model(request, obj, form, change)

    @admin.action(
        description=_("Approve: the account is the supplier's own"),
        permissions=["change"],
    )
    def approve(
        self, request: HttpRequest, queryset: models.QuerySet[BankAccount]
    ) -> None:
        assert request.user.is_authenticated
        for account in queryset:
            try:
                is_new = approve_bank_account(
                    account_id=account.pk, actor_id=request.user.pk
                )
            except OwnAccount as refusal:
                self.message_user(request, str(refusal), messages.ERROR)
                continue
            if is_new:
                self.log_change(request, account, "Approved")
            text = _("Payouts of %(account)s go there.") % {"account": account}
            self.message_user(request, text, messages.SUCCESS)


@admin.register(Payout)
class PayoutAdmin(ReadOnlyAdmin):
    list_display = ["created_at", "account", "amount", "week_date", "status", "reason"]
    list_filter = ["status", "currency"]
    list_select_related = ["account"]
