"""
What several tables of the catalog have in common.
"""

from typing import Any

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

import formats
from catalog.models import Listing, OfferPrice, PriceProposal

OFFER_NAMES = ["offer__gpu", "offer__supplier", "offer__region"]


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
    def gpu(self, row: OfferPrice | Listing | PriceProposal) -> str:
        return row.offer.gpu.label

    @admin.display(description=_("supplier"), ordering="offer__supplier__name")
    def supplier(self, row: OfferPrice | Listing | PriceProposal) -> str:
        return row.offer.supplier.name

    @admin.display(description=_("region"), ordering="offer__region__name")
    def region(self, row: OfferPrice | Listing | PriceProposal) -> str:
        return str(row.offer.region)


class Versions(ReadOnly):
    """
    Shows prices that services alone write.
    """

    @admin.display(description=_("price per GPU-hour"), ordering="hourly_price")
    def rate(self, price: OfferPrice | PriceProposal) -> str:
        return formats.rate(price.hourly_price, formats.language())
