"""
Many prices at once: all of them or none, and back again.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _
from djmoney.money import Money

from catalog.models import OfferPrice, PriceFile
from catalog.price_bounds import RATE_PLACES, PriceRefused
from catalog.price_files import read_lines
from catalog.price_plans import Line, PlannedPrice, PricePlan, plan_prices
from catalog.services.price_proposals import keep_waiting
from catalog.services.prices import lock_offers
from money import round_half_up

if TYPE_CHECKING:
    from marketplace.models import User

BATCH = 1000
# A version that is taken back is followed by one that starts right behind it.
SMALLEST_STEP = timedelta(microseconds=1)


class PricesRefused(Exception):
    """
    Prices cannot be set together: `plan` says which of them and why.
    """

    def __init__(self, plan: PricePlan) -> None:
        super().__init__(self.message())
        self.plan = plan

    @staticmethod
    def message() -> str:
        return _("Nothing is saved: some of these prices are refused.")


class PlanMoved(PricesRefused):
    """
    Prices have changed since the plan was looked at.
    """

    @staticmethod
    def message() -> str:
        return _(
            "Nothing is saved: prices have changed since you looked. This is what the"
            " file would change now."
        )


class FileApplied(Exception):
    """
    A file of prices was applied before.
    """


class CannotUndo(PriceRefused):
    """
    There is no way back from a version.
    """


@transaction.atomic
def set_prices(
    *,
    lines: Sequence[Line],
    actor: "User | None",
    at: datetime,
    digest: str | None = None,
) -> PricePlan:
    """
    Add a version for every line that changes a price, and return what was done.

    Unlikely prices wait for a second person's approval instead.

    Earlier versions stay, and so does what was agreed on while they were valid. All
    versions of one call have the same `created_at`: they can be undone together.

    :raises PricesRefused: if one line is refused; then none is saved
    :raises PlanMoved: if `digest` is that of a plan that would come out differently now
    """
    offer_ids = [line.offer_id for line in lines if line.offer_id is not None]
    lock_offers(offer_ids)
    plan = plan_prices(lines, at=at)
    if plan.refused:
        raise PricesRefused(plan)
    if digest is not None and digest != plan.digest:
        raise PlanMoved(plan)
    new = sorted(plan.written, key=lambda row: (row.offer.pk, row.valid_from))
    OfferPrice.objects.bulk_create(
        (_version(row, actor=actor, at=at) for row in new), batch_size=BATCH
    )
    keep_waiting(plan.waiting, actor=actor, at=at)
    return plan


def keep_file(*, name: str, content: str, actor: "User", at: datetime) -> PriceFile:
    """
    Keep an uploaded file of prices so that it can be looked at and then applied.

    :raises catalog.uploads.FileRefused: if it is no file of prices
    """
    read_lines(content)
    return PriceFile.objects.create(
        name=name[:200], content=content, uploaded_by=actor, uploaded_at=at
    )


@transaction.atomic
def apply_file(*, file_id: UUID, actor: "User", at: datetime, digest: str) -> PricePlan:
    """
    Set the prices of a kept file, all or none, if the plan is the one looked at.

    :raises FileApplied: if that was done before
    :raises PricesRefused: as `set_prices` does
    :raises PlanMoved: as `set_prices` does
    """
    file = PriceFile.objects.select_for_update().get(pk=file_id)
    if file.applied_at:
        raise FileApplied(_("This file was applied before; nothing is changed twice."))
    lines = read_lines(file.content)
    plan = set_prices(lines=lines, actor=actor, at=at, digest=digest)
    PriceFile.objects.filter(pk=file_id).update(applied_at=at)
    return plan


@transaction.atomic
def undo_price(*, version_id: int, actor: "User", at: datetime) -> OfferPrice:
    """
    Add a version with the price before this one, and return it.

    A version that is only scheduled never gets to be charged: the new one starts a
    microsecond after it.

    :raises CannotUndo: if it is the offer's first price or not its newest
    """
    version = OfferPrice.objects.get(pk=version_id)
    return _undo([version], actor=actor, at=at)[0]


@transaction.atomic
def undo_save(
    *, created_at: datetime, created_by: int | None, actor: "User", at: datetime
) -> list[OfferPrice]:
    """
    Undo all prices that were saved together, or none of them.

    :raises CannotUndo: if one is the offer's first price or not its newest
    """
    versions = OfferPrice.objects.filter(created_at=created_at, created_by=created_by)
    return _undo(list(versions), actor=actor, at=at)


def _undo(
    versions: Sequence[OfferPrice], *, actor: "User", at: datetime
) -> list[OfferPrice]:
    offer_ids = {version.offer_id for version in versions}
    lock_offers(offer_ids)
    newest = {
        price.offer_id: price.pk
        for price in OfferPrice.objects.filter(
            offer__in=offer_ids, valid_to__isnull=True
        )
    }
    earlier = OfferPrice.objects.filter(
        offer__in=offer_ids, valid_to__in=[version.valid_from for version in versions]
    )
    before = {(price.offer_id, price.valid_to): price for price in earlier}
    new = []
    for version in sorted(versions, key=lambda version: version.offer_id):
        previous = before.get((version.offer_id, version.valid_from))
        if newest[version.offer_id] != version.pk:
            raise CannotUndo(_("This price was changed again since: undo that first."))
        if previous is None:
            raise CannotUndo(
                _("There is no earlier price. Take the offer off the list instead.")
            )
        new.append(_again(previous, after=version, actor=actor, at=at))
    return OfferPrice.objects.bulk_create(new, batch_size=BATCH)


def _again(
    previous: OfferPrice, *, after: OfferPrice, actor: "User", at: datetime
) -> OfferPrice:
    return OfferPrice(
        offer_id=previous.offer_id,
        hourly_price=previous.hourly_price,
        valid_from=max(at, after.valid_from + SMALLEST_STEP),
        confirmed_at=at,
        created_at=at,
        created_by=actor,
        reason=_("Back to the price before"),
    )


def _version(row: PlannedPrice, *, actor: "User | None", at: datetime) -> OfferPrice:
    price = row.line.price
    # A line without these is refused.
    assert price is not None
    assert row.valid_from is not None
    return OfferPrice(
        offer_id=row.offer.pk,
        hourly_price=Money(round_half_up(price.amount, RATE_PLACES), price.currency),
        valid_from=row.valid_from,
        confirmed_at=at,
        created_at=at,
        created_by=actor,
        reason=row.line.reason.strip(),
    )
