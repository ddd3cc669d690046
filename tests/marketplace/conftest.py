"""
The fixtures of workspaces: the catalog as it ships, and one renter with 100 dollars.
"""

import pytest

from marketplace import services
from tests.billing.conftest import books  # noqa: F401
from tests.marketplace.prices import LATER
from tests.marketplace.supplier_fixtures import (  # noqa: F401
    company,
    listed,
    owner,
    owner_client,
    rival,
    rival_client,
    verified,
)
from tests.workspaces.conftest import (  # noqa: F401
    NOON,
    catalog,
    funded,
    make_funded,
    make_quote,
    matched,
    offer,
    quote,
    rates,
    rich_renter,
    running,
    stopped,
    wanted,
)


@pytest.fixture
def an_hour_later(monkeypatch):
    monkeypatch.setattr("clock.now", lambda: LATER)


@pytest.fixture
def open_market(staff):
    def open_at(at=NOON):
        return services.open_market(actor=staff, at=at)

    return open_at
