"""
What the tests of staff's price pages share: it is an hour after the catalog was loaded.
"""

from datetime import timedelta

from django.utils.html import strip_tags

from tests.workspaces.conftest import NOON

LATER = NOON + timedelta(hours=1)


def words(response):
    return " ".join(strip_tags(response.content.decode()).split())


def price_now(offer, at=LATER):
    return offer.hourly_price(at)
