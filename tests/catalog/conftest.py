from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
import time_machine
from djmoney.money import Money

from billing.services.rates import load_rates
from catalog.models import GpuModel, Listing, Offer, OfferPrice, Region, Supplier
from tests.catalog_copy import put_catalog

# Ninety days after GPURento's prices, so that they are stale.
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.fixture
def now() -> datetime:
    return NOW


@pytest.fixture
def at_now(now: datetime) -> Iterator[None]:
    with time_machine.travel(now, tick=False):
        yield


@pytest.fixture
def catalog(db: None, now: datetime) -> None:
    """
    The catalog of the data files, loaded at `now`.
    """
    put_catalog(at=now)


def make_gpu(**changes: Any) -> GpuModel:
    facts = {
        "slug": "test-gpu",
        "name": "Test GPU",
        "label": "Test",
        "vendor": "NVIDIA",
        "architecture": "Ada Lovelace",
        "memory_gb": 24,
        "memory_type": "GDDR6X",
        "bandwidth_gbs": 1008,
        "tdp_w": 450,
        "form_factor": "PCIe",
        "nvlink": "no",
        "launch_year": 2022,
        "source_url": "https://example.com/gpu",
    }
    return GpuModel.objects.create(**facts | changes)


@pytest.fixture
def gpu(db: None) -> GpuModel:
    return make_gpu()


@pytest.fixture
def region(db: None) -> Region:
    return Region.objects.create(
        slug="eu-north", name="EU North", city="Oslo", country="NO"
    )


@pytest.fixture
def supplier(db: None) -> Supplier:
    return Supplier.objects.create(slug="acme", name="Acme")


@pytest.fixture
def make_offer(
    gpu: GpuModel, region: Region, supplier: Supplier, now: datetime
) -> Callable[..., Offer]:
    """
    Make an offer of four free nodes at 0.40 USD, confirmed now; arguments change it.
    """

    def make(
        *,
        price: str | None = "0.40",
        currency: str = "USD",
        confirmed_at: datetime = now,
        **changes: Any,
    ) -> Offer:
        fields = {
            "supplier": supplier,
            "gpu": gpu,
            "region": region,
            "nodes": 4,
            "free_nodes": 4,
            "listed_at": now,
            **changes,
        }
        offer = Offer.objects.create(**fields)
        if price is not None:
            OfferPrice.objects.create(
                offer=offer,
                hourly_price=Money(price, currency),
                valid_from=confirmed_at,
                confirmed_at=confirmed_at,
                created_at=confirmed_at,
            )
        return offer

    return make


@pytest.fixture
def offer(make_offer: Callable[..., Offer]) -> Offer:
    return make_offer()


@pytest.fixture
def described_offer(offer: Offer) -> Offer:
    """
    An offer of which its supplier said what a node has.
    """
    Listing.objects.create(
        offer=offer,
        cpu_cores=16,
        ram_gb=64,
        disk_gb=1500,
        network_gbps=Decimal("2.5"),
        cuda_version="12.8",
        currency="USD",
    )
    return offer


@pytest.fixture
def day_rates(db: None) -> Callable[..., None]:
    """
    Store what one euro was on a day, as the bank's file has it.
    """

    def store(day: str, **rates: str) -> None:
        head = "CURRENCY,CURRENCY_DENOM,TIME_PERIOD,OBS_VALUE"
        rows = [f"{code},EUR,{day},{rate}" for code, rate in rates.items()]
        load_rates(lines=[head, *rows])

    return store
