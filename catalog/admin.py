from collections.abc import Mapping
from datetime import UTC
from typing import Any

from django.contrib import admin, messages
from django.db import models
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html
from django.utils.translation import get_language, gettext, ngettext
from django.utils.translation import gettext_lazy as _
from djmoney.money import Money

import clock
import formats
from catalog import services
from catalog.forms.offers import OfferForm
from catalog.models import (
    BaseModel,
    GpuModel,
    Image,
    Listing,
    Offer,
    OfferPrice,
    Region,
    StoragePlan,
    Supplier,
    Workload,
    WorkloadGpu,
    WorkloadText,
)

OFFER_NAMES = ["offer__gpu", "offer__supplier", "offer__region"]


def _language() -> str:
    return get_language() or "en"


class ReadOnly:
    """
    Shows rows and lets nobody add, change or delete one.
    """

    def has_add_permission(self, *args: Any) -> bool:
        return False

    def has_change_permission(self, *args: Any) -> bool:
        return False

    def has_delete_permission(self, *args: Any) -> bool:
        return False


class OfOffer:
    """
    Names the offer that a row belongs to.
    """

    @admin.display(description=_("GPU"), ordering="offer__gpu__label")
    def gpu(self, row: OfferPrice | Listing) -> str:
        return row.offer.gpu.label

    @admin.display(description=_("supplier"), ordering="offer__supplier__name")
    def supplier(self, row: OfferPrice | Listing) -> str:
        return row.offer.supplier.name

    @admin.display(description=_("region"), ordering="offer__region__name")
    def region(self, row: OfferPrice | Listing) -> str:
        return str(row.offer.region)


class WithLinks:
    """
    Takes a link without a scheme for https.
    """

    formfield_overrides: Mapping[type[models.Field], Mapping[str, Any]] = {
        models.URLField: {"assume_scheme": "https"}
    }


class Versions(ReadOnly):
    """
    Shows price versions.
    """

    @admin.display(description=_("price per GPU-hour"), ordering="hourly_price")
    def rate(self, price: OfferPrice) -> str:
        return formats.rate(price.hourly_price, _language())


class OfferPriceInline(Versions, admin.TabularInline):
    model = OfferPrice
    verbose_name_plural = _("price history, never changed")
    fields = ["rate", "valid_from", "valid_to", "confirmed_at", "created_by", "reason"]
    readonly_fields = ["rate", "valid_to"]
    ordering = ["-valid_from"]
    can_delete = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[OfferPrice]:
        return super().get_queryset(request).select_related("created_by")


class PriceAgeFilter(admin.SimpleListFilter):
    title = _("price")
    parameter_name = "price"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [
            ("live", _("live: can be matched now")),
            ("stale", _("stale: nobody confirmed it lately")),
            ("none", _("no price")),
        ]

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[Offer]
    ) -> QuerySet[Offer] | None:
        at = clock.now()
        kept = {
            "live": Offer.objects.live(at),
            "stale": Offer.objects.stale(at),
            "none": Offer.objects.unpriced(at),
        }.get(self.value() or "")
        return queryset if kept is None else queryset.filter(pk__in=kept.values("pk"))


@admin.register(Offer)
class OfferAdmin(admin.ModelAdmin):
    form = OfferForm
    inlines = [OfferPriceInline]
    list_display = [
        "hardware",
        "supplier",
        "city",
        "price_now",
        "price_state",
        "free_of_nodes",
        "is_listed",
    ]
    list_display_links = ["hardware"]
    list_filter = [PriceAgeFilter, "is_listed", "supplier", "region"]
    list_select_related = ["gpu", "supplier", "region"]
    search_fields = ["gpu__label", "gpu__name", "supplier__name", "region__name"]
    search_help_text = _("GPU, supplier or region")
    ordering = ["gpu__label", "supplier__name", "region__name", "gpus_per_node"]
    actions = ["confirm_prices"]
    fieldsets = [
        (
            None,
            {
                "fields": [
                    ("supplier", "gpu", "region"),
                    ("gpus_per_node", "nodes", "free_nodes"),
                    ("available_until", "is_listed"),
                    "listed_at",
                ]
            },
        ),
        (
            _("New price"),
            {
                "fields": [
                    ("new_price", "currency"),
                    "valid_from",
                    ("is_confirmed", "reason"),
                ]
            },
        ),
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Offer]:
        offers = super().get_queryset(request)
        return (
            Offer.objects.filter(pk__in=offers.values("pk"))
            .with_price(clock.now())
            .select_related("gpu", "supplier", "region")
        )

    def get_readonly_fields(
        self, request: HttpRequest, obj: Offer | None = None
    ) -> list[str]:
        # What identifies an offer stays: its price history belongs to it.
        fixed = ["supplier", "gpu", "region", "gpus_per_node"] if obj else []
        return [*fixed, "free_nodes", "listed_at"]

    def has_delete_permission(
        self, request: HttpRequest, obj: Offer | None = None
    ) -> bool:
        # Its price history stays, so an offer is taken off the list instead.
        return False

    @admin.display(description=_("GPU"), ordering="gpu__label")
    def hardware(self, offer: Offer) -> str:
        if offer.gpus_per_node == 1:
            return offer.gpu.label
        return f"{offer.gpus_per_node} × {offer.gpu.label}"

    @admin.display(description=_("region"), ordering="region__city")
    def city(self, offer: Offer) -> str:
        return offer.region.city

    @admin.display(description=_("free nodes"), ordering="free_nodes")
    def free_of_nodes(self, offer: Offer) -> str:
        return gettext("%(free)s of %(nodes)s") % {
            "free": formats.number(offer.free_nodes, _language()),
            "nodes": formats.number(offer.nodes, _language()),
        }

    @admin.display(description=_("price/h"), ordering="hourly_amount")
    def price_now(self, offer: Any) -> str | None:
        if offer.price_id is None:
            return None
        price = Money(offer.hourly_amount, offer.hourly_currency)
        return formats.rate(price, _language())

    @admin.display(description=_("confirmed"), ordering="price_as_of")
    def price_state(self, offer: Any) -> str | None:
        if offer.price_id is None:
            return None
        day = formats.day(offer.price_as_of, _language(), UTC)
        if offer.is_stale:
            return format_html("<strong>{}: {}</strong>", gettext("stale"), day)
        return day

    @admin.action(
        description=_("Confirm the prices: they are still true"),
        permissions=["change"],
    )
    def confirm_prices(self, request: HttpRequest, queryset: QuerySet[Offer]) -> None:
        chosen = list(queryset.values_list("pk", flat=True))
        done = services.confirm_prices(offer_ids=chosen, at=clock.now())
        text = ngettext(
            "%(count)s price is confirmed.", "%(count)s prices are confirmed.", done
        )
        self.message_user(request, text % {"count": done}, messages.SUCCESS)

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        offer = self.get_object(request, object_id)
        if offer:
            title = f"{offer.gpu} · {offer.supplier} · {offer.region}"
            names = {"title": title, "subtitle": ""}
            extra_context = {**names, **(extra_context or {})}
        return super().change_view(request, object_id, form_url, extra_context)

    def save_model(
        self, request: HttpRequest, obj: Offer, form: OfferForm, change: bool
    ) -> None:
        if change:
            _save_changes(obj, form)
        else:
            obj.free_nodes = obj.nodes
            obj.listed_at = form.at
            obj.save()
        if form.cleaned_data.get("new_price") is None:
            return
        assert request.user.is_authenticated  # The admin lets nobody else in.
        save = services.propose_price if form.needs_approval else services.set_price
        try:
            save(offer_id=obj.pk, actor=request.user, at=form.at, **form.price())
        except services.PriceRefused as refusal:
            self.message_user(request, str(refusal), messages.ERROR)
            return
        if form.needs_approval:
            text = gettext(
                "The price waits until a second member of staff approves it."
            )
            self.message_user(request, text, messages.WARNING)


def _save_changes(offer: Offer, form: OfferForm) -> None:
    # The free nodes on the form are as old as the page: they are never written back.
    changed = {"available_until", "is_listed"}.intersection(form.changed_data)
    if "is_listed" in changed and offer.is_listed:
        offer.listed_at = form.at
        changed.add("listed_at")
    if changed:
        offer.save(update_fields=changed)
    if "nodes" in form.changed_data:
        services.set_nodes(offer_id=offer.pk, nodes=offer.nodes, at=form.at)


@admin.register(OfferPrice)
class OfferPriceAdmin(Versions, OfOffer, admin.ModelAdmin):
    list_display = [
        "gpu",
        "supplier",
        "region",
        "rate",
        "valid_from",
        "valid_to",
        "confirmed_at",
        "created_by",
        "reason",
    ]
    list_filter = ["offer__supplier", "offer__region", "valid_from"]
    list_select_related = [*OFFER_NAMES, "created_by"]
    search_fields = ["offer__gpu__label", "offer__supplier__name", "reason"]
    ordering = ["-valid_from", "-pk"]


@admin.register(Listing)
class ListingAdmin(ReadOnly, OfOffer, admin.ModelAdmin):
    """
    Looks up what suppliers list; they write it at their desk.
    """

    list_display = ["gpu", "supplier", "region", "paused_at", "removed_at"]
    list_filter = ["offer__supplier", "offer__region"]
    list_select_related = OFFER_NAMES
    search_fields = ["offer__gpu__label", "offer__supplier__name"]
    ordering = ["offer__supplier__name", "offer__gpu__label", "pk"]


@admin.register(GpuModel)
class GpuModelAdmin(WithLinks, admin.ModelAdmin):
    list_display = [
        "label",
        "name",
        "architecture",
        "memory_gb",
        "memory_type",
        "has_inline_ecc",
        "bandwidth_gbs",
        "form_factor",
    ]
    list_filter = ["vendor", "architecture", "form_factor"]
    search_fields = ["label", "name", "slug"]
    prepopulated_fields = {"slug": ["name"]}
    ordering = ["vendor", "label"]


@admin.register(BaseModel)
class BaseModelAdmin(WithLinks, admin.ModelAdmin):
    list_display = ["name", "hf_id", "family", "total_params_b", "is_listed"]
    list_filter = ["is_listed", "family"]
    search_fields = ["name", "hf_id"]
    ordering = ["family", "total_params_b"]


@admin.register(Region)
class RegionAdmin(admin.ModelAdmin):
    list_display = ["name", "city", "country", "slug"]
    search_fields = ["name", "city"]
    ordering = ["name"]


@admin.register(Supplier)
class SupplierAdmin(admin.ModelAdmin):
    list_display = ["name", "slug", "is_verified", "is_demo"]
    list_filter = ["is_verified", "is_demo"]
    search_fields = ["name", "slug"]
    ordering = ["name"]


@admin.register(StoragePlan)
class StoragePlanAdmin(admin.ModelAdmin):
    list_display = ["name", "price", "is_persistent", "kept_days_after", "is_listed"]
    ordering = ["position"]

    @admin.display(description=_("price per GB-month"), ordering="monthly_price")
    def price(self, plan: StoragePlan) -> str:
        return formats.rate(plan.monthly_price, _language())


@admin.register(Image)
class ImageAdmin(WithLinks, admin.ModelAdmin):
    list_display = ["name", "reference", "methods", "is_listed"]
    search_fields = ["name", "reference"]
    ordering = ["position"]


class WorkloadGpuInline(admin.TabularInline):
    model = WorkloadGpu
    ordering = ["position"]
    autocomplete_fields = ["gpu"]
    extra = 0


@admin.register(Workload)
class WorkloadAdmin(admin.ModelAdmin):
    list_display = ["slug", "table", "is_published", "position"]
    inlines = [WorkloadGpuInline]
    autocomplete_fields = ["example_gpu", "example_supplier"]
    ordering = ["position"]


@admin.register(WorkloadText)
class WorkloadTextAdmin(ReadOnly, admin.ModelAdmin):
    """
    Shows the versions; they are written on the staff's own pages.
    """

    list_display = ["title", "workload", "language", "number", "is_published", "note"]
    list_filter = ["is_published", "language", "workload"]
    list_select_related = ["workload"]
    search_fields = ["title", "blocks__title", "blocks__body"]
    ordering = ["workload__position", "language", "-number"]
