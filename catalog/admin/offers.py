"""
Offers and their prices: a new version is typed, the old ones are only shown.
"""

from datetime import UTC
from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from djmoney.money import Money

import clock
import formats
from catalog import services
from catalog.admin.base import OFFER_NAMES, OfOffer, ReadOnly, Versions
from catalog.forms.offers import OfferForm
from catalog.models import Listing, Offer, OfferPrice, PriceProposal


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
            "free": formats.number(offer.free_nodes, formats.language()),
            "nodes": formats.number(offer.nodes, formats.language()),
        }

    @admin.display(description=_("price/h"), ordering="hourly_amount")
    def price_now(self, offer: Any) -> str | None:
        if offer.price_id is None:
            return None
        price = Money(offer.hourly_amount, offer.hourly_currency)
        return formats.rate(price, formats.language())

    @admin.display(description=_("confirmed"), ordering="price_as_of")
    def price_state(self, offer: Any) -> str | None:
        if offer.price_id is None:
            return None
        day = formats.day(offer.price_as_of, formats.language(), UTC)
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


@admin.register(PriceProposal)
class PriceProposalAdmin(Versions, OfOffer, admin.ModelAdmin):
    """
    Looks up what was proposed and decided, on the staff's own page.
    """

    list_display = [
        "gpu",
        "supplier",
        "region",
        "rate",
        "proposed_at",
        "proposed_by",
        "reason",
        "decided_at",
        "decided_by",
        "version",
        "decision_reason",
    ]
    list_filter = ["offer__supplier", "proposed_at"]
    list_select_related = [*OFFER_NAMES, "proposed_by", "decided_by", "version"]
    search_fields = ["offer__gpu__label", "offer__supplier__name", "reason"]
    ordering = ["-pk"]


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
