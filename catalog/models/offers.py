"""
Who rents out what, where, and at which price since when.

An offer has no price of its own: its price is the version in `OfferPrice` that is
valid at the moment in question. Versions are only ever added, so what a page showed
last month can be shown again, a price can be scheduled, and a running rental is never
repriced. `Offer.objects.live(at).cheapest_first()` says which ask is the best:
`catalog.best_asks` finds the same one, for every "from" price on every page.
"""

from datetime import datetime, timedelta
from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import F, FilteredRelation, Q
from django.utils.translation import gettext_lazy as _
from djmoney.money import Money

from catalog import exchange
from catalog.models.fields import price_field
from catalog.models.hardware import GpuModel, Region

# The order of every "best ask": amounts in one currency, see catalog.exchange; what
# no rate is known for comes last, and of equal asks the older one comes first.
CHEAPEST_FIRST = (
    F("comparable_amount").asc(nulls_last=True),
    F("hourly_amount").asc(nulls_last=True),
    "listed_at",
    "pk",
)


def _valid(at: datetime, prefix: str = "") -> Q:
    """
    Match the price version that is valid at `at`: its period is half-open.
    """
    return Q(**{f"{prefix}valid_from__lte": at}) & (
        Q(**{f"{prefix}valid_to__isnull": True}) | Q(**{f"{prefix}valid_to__gt": at})
    )


class Supplier(models.Model):
    """
    A business that rents out its nodes here.
    """

    slug = models.SlugField(_("slug"), unique=True)
    name = models.CharField(_("name"), max_length=60, unique=True)
    is_verified = models.BooleanField(_("verified"), default=False)
    is_demo = models.BooleanField(
        _("demo"), default=False, help_text=_("Invented: pages say so.")
    )

    class Meta:
        verbose_name = _("supplier")
        verbose_name_plural = _("suppliers")

    def __str__(self) -> str:
        return self.name


class OfferQuerySet(models.QuerySet["Offer"]):
    def with_price(self, at: datetime) -> Self:
        """
        Add what one GPU costs an hour at `at`, since when that is known, and its order.

        Annotates `price_id`, `hourly_amount`, `hourly_currency`, `price_as_of` (when
        somebody last said that it is true), `is_stale`, and `comparable_amount`: the
        price in the currency that asks are compared in, null where no rate is known,
        for sorting, not for show. All are null for an offer that has no price yet.
        """
        freshest = at - timedelta(days=settings.PRICE_STALE_DAYS)
        return self.annotate(
            _price=FilteredRelation("prices", condition=_valid(at, "prices__")),
            price_id=F("_price__pk"),
            hourly_amount=F("_price__hourly_price"),
            hourly_currency=F("_price__hourly_price_currency"),
            price_as_of=F("_price__confirmed_at"),
            is_stale=models.ExpressionWrapper(
                Q(_price__confirmed_at__lt=freshest), models.BooleanField()
            ),
            comparable_amount=exchange.Comparable(
                "_price__hourly_price", "_price__hourly_price_currency", at=at
            ),
        )

    def listed(self, at: datetime) -> Self:
        """
        Keep the offers that are on the list at `at`, free or not.
        """
        return self.filter(
            Q(available_until__isnull=True) | Q(available_until__gt=at), is_listed=True
        )

    def live(self, at: datetime) -> Self:
        """
        Keep the offers that can be reserved at `at` for a price that is still true.

        The price's annotations come with it, see `with_price`.
        """
        return (
            self.with_price(at)
            .listed(at)
            .filter(free_nodes__gt=0, price_id__isnull=False, is_stale=False)
        )

    def stale(self, at: datetime) -> Self:
        """
        Keep the offers whose price nobody has confirmed for too long.
        """
        return self.with_price(at).filter(is_stale=True)

    def unpriced(self, at: datetime) -> Self:
        """
        Keep the offers that have no price at `at`.
        """
        return self.with_price(at).filter(price_id__isnull=True)

    def of_size(self, gpus: int) -> Self:
        """
        Keep the offers whose node has this many GPUs: nodes are only let as a whole.
        """
        return self.filter(gpus_per_node=gpus)

    def cheapest_first(self) -> Self:
        """
        Sort by the price of a GPU-hour; of equal asks the older one comes first.
        """
        return self.order_by(*CHEAPEST_FIRST)

    def fresh_first(self) -> Self:
        """
        Keep the offers with a price; stale ones come last, else as `cheapest_first`.
        """
        return self.filter(price_id__isnull=False).order_by("is_stale", *CHEAPEST_FIRST)

    def cheapest_per(self, *fields: str) -> Self:
        """
        Keep, of the offers that are equal in `fields`, the first of `cheapest_first`.
        """
        return self.order_by(*fields, *CHEAPEST_FIRST).distinct(*fields)


OfferManager = models.Manager.from_queryset(OfferQuerySet)


class Offer(models.Model):
    """
    A supplier's equal nodes with one kind of GPU in one region.

    `free_nodes` is what can be reserved now. It only changes by the guarded updates
    of `catalog.services`, never by saving an object that was read before. If fewer
    nodes are offered than are rented, the difference is `leaving_nodes`: so many of
    the rented ones are not let again when they come back.
    """

    supplier = models.ForeignKey(
        Supplier, models.PROTECT, related_name="offers", verbose_name=_("supplier")
    )
    gpu = models.ForeignKey(
        GpuModel, models.PROTECT, related_name="offers", verbose_name=_("GPU")
    )
    region = models.ForeignKey(
        Region, models.PROTECT, related_name="offers", verbose_name=_("region")
    )
    gpus_per_node = models.PositiveSmallIntegerField(_("GPUs per node"), default=1)
    nodes = models.PositiveIntegerField(_("nodes"))
    free_nodes = models.PositiveIntegerField(_("free nodes"))
    leaving_nodes = models.PositiveIntegerField(
        _("rented nodes that are not let again"), default=0, editable=False
    )
    available_until = models.DateTimeField(_("available until"), null=True, blank=True)
    is_listed = models.BooleanField(_("listed"), default=True)
    listed_at = models.DateTimeField(_("listed at"))
    free_changed_at = models.DateTimeField(
        _("free nodes changed at"), null=True, blank=True, editable=False
    )

    objects = OfferManager()

    class Meta:
        verbose_name = _("offer")
        verbose_name_plural = _("offers")
        constraints = [
            models.UniqueConstraint(
                fields=["supplier", "gpu", "region", "gpus_per_node"],
                name="offer_unique_per_supplier_gpu_region_size",
            ),
            models.CheckConstraint(
                condition=Q(free_nodes__gte=0, free_nodes__lte=F("nodes")),
                name="offer_free_nodes_within_nodes",
            ),
            models.CheckConstraint(
                condition=Q(leaving_nodes=0) | Q(free_nodes=0),
                name="offer_leaving_nodes_leave_none_free",
            ),
            models.CheckConstraint(
                condition=Q(gpus_per_node__gte=1, gpus_per_node__lte=16),
                name="offer_gpus_per_node_sane",
            ),
        ]
        indexes = [models.Index(fields=["gpu", "region"], name="offer_gpu_region")]

    def __str__(self) -> str:
        return _("Offer %(number)s") % {"number": self.pk}

    def hourly_price(self, at: datetime) -> Money:
        """
        Return the price of one GPU for an hour at `at`.

        :raises OfferPrice.DoesNotExist: if it has no price then
        """
        return self.prices.get(_valid(at)).hourly_price


class OfferPriceQuerySet(models.QuerySet["OfferPrice"]):
    def valid(self, at: datetime) -> Self:
        """
        Keep the version of each offer that is valid at `at`.
        """
        return self.filter(_valid(at))


OfferPriceManager = models.Manager.from_queryset(OfferPriceQuerySet)


class OfferPrice(models.Model):
    """
    What one GPU of an offer costs an hour from a moment on: a version, never edited.

    A trigger keeps `valid_to` (the next version's `valid_from`) and refuses every
    change but a later `confirmed_at`, and every deletion.
    """

    offer = models.ForeignKey(
        Offer, models.PROTECT, related_name="prices", verbose_name=_("offer")
    )
    hourly_price = price_field(
        _("price per GPU-hour"), help_text=_("For one GPU, ex tax.")
    )
    valid_from = models.DateTimeField(_("valid from"))
    valid_to = models.DateTimeField(
        _("valid to"), null=True, blank=True, editable=False
    )
    confirmed_at = models.DateTimeField(
        _("confirmed at"),
        help_text=_("When somebody last said that this price is true."),
    )
    created_at = models.DateTimeField(_("entered at"))
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("entered by"),
    )
    reason = models.CharField(_("reason"), max_length=200, blank=True)

    objects = OfferPriceManager()

    class Meta:
        verbose_name = _("price version")
        verbose_name_plural = _("price versions")
        constraints = [
            models.UniqueConstraint(
                fields=["offer", "valid_from"], name="offerprice_unique_valid_from"
            ),
            # With all that is asked of the current prices: see `catalog.best_asks`.
            models.UniqueConstraint(
                fields=["offer"],
                condition=Q(valid_to__isnull=True),
                include=[
                    "id",
                    "hourly_price",
                    "hourly_price_currency",
                    "valid_from",
                    "confirmed_at",
                ],
                name="offerprice_one_without_end",
            ),
            models.CheckConstraint(
                condition=Q(hourly_price__gt=0), name="offerprice_price_positive"
            ),
            models.CheckConstraint(
                condition=Q(hourly_price_currency__in=settings.CURRENCIES),
                name="offerprice_currency_known",
            ),
            models.CheckConstraint(
                condition=Q(valid_to__isnull=True) | Q(valid_to__gt=F("valid_from")),
                name="offerprice_period_forward",
            ),
        ]
        # The prices of a moment are found among all that ever were.
        indexes = [models.Index(fields=["valid_to"], name="offerprice_valid_to")]

    def __str__(self) -> str:
        return _("Price version %(number)s") % {"number": self.pk}
