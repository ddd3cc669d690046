"""
The suppliers' own offers: list nodes, change them, pause them, take them off the list.

Nothing here touches what is rented already: a rental keeps its price and its node.
"""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext as _
from djmoney.money import Money

import formats
from catalog import price_bounds
from catalog.models import Listing, Offer, OfferPrice, Supplier
from catalog.price_bounds import Medians, PriceNotMeant, PriceRefused
from catalog.services.nodes import set_nodes
from catalog.services.prices import add_version, confirm_prices
from money import round_half_up

if TYPE_CHECKING:
    from marketplace.models import User

KEY = ("gpu_id", "region_id", "gpus_per_node")
MACHINE = ("cpu_cores", "ram_gb", "disk_gb", "network_gbps", "cuda_version")


class NodeListed(Exception):
    """
    The supplier lists such nodes already.
    """

    def __init__(self) -> None:
        super().__init__(
            _(
                "You list nodes with this GPU, region and number of GPUs already."
                " Change how many there are instead."
            )
        )


class BelowFloor(PriceRefused):
    """
    An ask is below the floor that the supplier set.
    """

    def __init__(self, floor: Money) -> None:
        language = formats.language()
        super().__init__(
            _("This is below your floor of %(floor)s. Change the floor first.")
            % {"floor": formats.rate(floor, language)}
        )


class AskNeedsStaff(PriceRefused):
    """
    An ask is so unlikely that only staff can confirm it.
    """


@dataclass(frozen=True, kw_only=True)
class Nodes:
    """
    What a supplier says of equal nodes: where, what, how many, at which ask.

    `ask` is per GPU and hour, ex tax; `floor` is in the same currency.
    """

    gpu_id: int
    region_id: int
    gpus_per_node: int
    nodes: int
    cpu_cores: int
    ram_gb: int
    disk_gb: int
    network_gbps: Decimal
    cuda_version: str
    ask: Money
    floor: Decimal | None
    available_until: datetime | None

    @property
    def place(self) -> dict[str, int]:
        """
        Return what an offer of a supplier is found by.
        """
        return {name: getattr(self, name) for name in KEY}

    def listing(self) -> dict[str, Any]:
        """
        Return the columns of the listing.
        """
        machine = {name: getattr(self, name) for name in MACHINE}
        return {
            **machine,
            "currency": self.ask.currency.code,
            "floor_amount": self.floor,
        }


@transaction.atomic
def list_nodes(
    *,
    supplier_id: int,
    wanted: Nodes,
    actor: "User | None",
    at: datetime,
    medians: Medians | None = None,
) -> Offer:
    """
    Offer nodes, at once if the supplier is verified, and return the offer.

    Nodes that were removed before come back as the same offer. `medians` are those to
    hold the ask against, if they were read before.

    :raises NodeListed: if the supplier lists such nodes already
    :raises PriceRefused: if the ask cannot be taken, see `check_ask`
    """
    supplier = Supplier.objects.select_for_update().get(pk=supplier_id)
    check_ask(wanted, at=at, medians=medians)
    known = supplier.offers.filter(**wanted.place).select_related("listing")
    offer = known.select_for_update(of=["self"]).first()
    if offer is None:
        offer = _add(supplier, wanted, at=at)
    elif _is_listed(offer):
        raise NodeListed
    else:
        _put_back(offer, supplier=supplier, wanted=wanted, at=at)
    Listing.objects.update_or_create(
        offer=offer,
        defaults={**wanted.listing(), "paused_at": None, "removed_at": None},
    )
    _set_ask(offer, wanted.ask, actor=actor, at=at)
    return offer


@transaction.atomic
def change_nodes(
    *,
    offer_id: int,
    wanted: Nodes,
    actor: "User | None",
    at: datetime,
    medians: Medians | None = None,
) -> None:
    """
    Change what is said of listed nodes; the ask gets a new version if it changes.

    Fewer nodes than are rented is possible: those that are rented stay so, and are not
    let again. The same ask again confirms that it is true. `medians` as in `list_nodes`.

    :raises PriceRefused: if the ask cannot be taken, see `check_ask`
    """
    offer = Offer.objects.select_for_update().get(pk=offer_id)
    current = current_ask(offer_id=offer_id, at=at)
    check_ask(wanted, current=current, at=at, medians=medians)
    Offer.objects.filter(pk=offer_id).update(available_until=wanted.available_until)
    set_nodes(offer_id=offer_id, nodes=wanted.nodes, at=at)
    Listing.objects.filter(pk=offer_id).update(**wanted.listing())
    _set_ask(offer, wanted.ask, actor=actor, at=at)


@transaction.atomic
def pause_nodes(*, offer_id: int, at: datetime) -> None:
    """
    Take nodes off the list until they are resumed; rentals on them go on.
    """
    Listing.objects.filter(pk=offer_id, paused_at=None).update(paused_at=at)
    Offer.objects.filter(pk=offer_id).update(is_listed=False)


@transaction.atomic
def resume_nodes(*, offer_id: int, at: datetime) -> None:
    """
    Put paused nodes back on the list, as the youngest of equal asks.
    """
    Listing.objects.filter(pk=offer_id, removed_at=None).update(paused_at=None)
    _put_on_the_list(Q(pk=offer_id), at=at)


@transaction.atomic
def remove_nodes(*, offer_id: int, at: datetime) -> None:
    """
    Take nodes off the list for good; rentals on them go on to their end.
    """
    Listing.objects.filter(pk=offer_id, removed_at=None).update(removed_at=at)
    Offer.objects.filter(pk=offer_id).update(is_listed=False)


@transaction.atomic
def verify_supplier(*, supplier_id: int, at: datetime) -> None:
    """
    Put on the list what a supplier wants to have there, now that it is verified.
    """
    Supplier.objects.filter(pk=supplier_id).update(is_verified=True)
    _put_on_the_list(Q(supplier=supplier_id), at=at)
    offers = Offer.objects.filter(supplier=supplier_id, is_listed=True)
    confirm_prices(offer_ids=list(offers.values_list("pk", flat=True)), at=at)


@transaction.atomic
def suspend_supplier(*, supplier_id: int) -> None:
    """
    Take everything of a supplier off the list; rentals go on to their end.
    """
    Supplier.objects.filter(pk=supplier_id).update(is_verified=False)
    offers = Offer.objects.filter(supplier=supplier_id, listing__isnull=False)
    offers.update(is_listed=False)


def check_ask(
    wanted: Nodes,
    *,
    at: datetime,
    current: Money | None = None,
    medians: Medians | None = None,
) -> None:
    """
    Say what speaks against an ask of a supplier's own.

    An ask that stands already, as `current`, only has to respect the floor. `medians`
    are those to hold it against, if they were read before.

    :raises BelowFloor: if it is below the floor
    :raises AskNeedsStaff: if it is so unlikely that only staff can confirm it
    :raises PriceRefused: if it is not positive
    """
    if wanted.floor is not None and wanted.ask.amount < wanted.floor:
        raise BelowFloor(Money(wanted.floor, wanted.ask.currency))
    if wanted.ask == current:
        return
    if medians is None:
        medians = price_bounds.recent_medians(gpu_ids=[wanted.gpu_id], at=at)
    try:
        price_bounds.check(
            wanted.ask,
            gpu_id=wanted.gpu_id,
            valid_from=at,
            medians=medians,
            is_meant=False,
            at=at,
        )
    except PriceNotMeant as refusal:
        raise AskNeedsStaff(_needs_staff(wanted, medians)) from refusal


def current_ask(*, offer_id: int, at: datetime) -> Money | None:
    """
    Return what the offer asks at `at`, None if it has no price.
    """
    version = OfferPrice.objects.valid(at).filter(offer=offer_id).first()
    return version.hourly_price if version else None


def _needs_staff(wanted: Nodes, medians: Medians) -> str:
    currency = wanted.ask.currency.code
    middle = medians.of(gpu_id=wanted.gpu_id, currency=currency)
    if middle is None:
        return _(
            "Nobody asks for this GPU in %(currency)s, so there is nothing to compare"
            " the ask with. Write to us: our staff can set it."
        ) % {"currency": currency}
    language = formats.language()
    return _(
        "This is more than %(share)s away from %(median)s, the median of what was asked"
        " for this GPU in the last 30 days. If it is meant, write to us: our staff can"
        " set it."
    ) % {
        "share": formats.percent(price_bounds.FARTHEST_FROM_MEDIAN, language),
        "median": formats.rate(Money(middle, currency), language),
    }


def _is_listed(offer: Offer) -> bool:
    listing = getattr(offer, "listing", None)
    return listing is None or listing.removed_at is None


def _add(supplier: Supplier, wanted: Nodes, *, at: datetime) -> Offer:
    return Offer.objects.create(
        supplier=supplier,
        **wanted.place,
        nodes=wanted.nodes,
        free_nodes=wanted.nodes,
        available_until=wanted.available_until,
        is_listed=supplier.is_verified,
        listed_at=at,
    )


def _put_back(offer: Offer, *, supplier: Supplier, wanted: Nodes, at: datetime) -> None:
    set_nodes(offer_id=offer.pk, nodes=wanted.nodes, at=at)
    Offer.objects.filter(pk=offer.pk).update(
        is_listed=supplier.is_verified,
        listed_at=at,
        available_until=wanted.available_until,
    )


def _put_on_the_list(which: Q, *, at: datetime) -> None:
    offers = Offer.objects.filter(
        which,
        supplier__is_verified=True,
        is_listed=False,
        listing__paused_at=None,
        listing__removed_at=None,
        listing__isnull=False,
    )
    offers.update(is_listed=True, listed_at=at)


def _set_ask(offer: Offer, ask: Money, *, actor: "User | None", at: datetime) -> None:
    rounded = Money(round_half_up(ask.amount, price_bounds.RATE_PLACES), ask.currency)
    if current_ask(offer_id=offer.pk, at=at) == rounded:
        confirm_prices(offer_ids=[offer.pk], at=at)
    else:
        add_version(offer, ask, valid_from=at, actor=actor, at=at)
