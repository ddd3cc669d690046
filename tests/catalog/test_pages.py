"""
What holds for every page of the catalog.
"""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from catalog.models import GpuModel, Offer, OfferPrice, Region, Supplier

PATHS = [
    "/planner/",
    "/gpus/",
    "/gpus/compare/?gpu=rtx-4090&gpu=l40s",
    "/gpus/rtx-4090/",
    "/gpus/rtx-4090/prices.csv",
    "/availability/",
    "/workloads/",
    "/workloads/fine-tuning/",
]


def queries_of(client, path):
    with CaptureQueriesContext(connection) as queries:
        assert client.get(path).status_code == 200
    return len(queries)


@pytest.fixture
def crowd(catalog, now):
    """
    Ten more suppliers who offer everything everywhere.
    """

    def come():
        for number in range(10):
            supplier = Supplier.objects.create(slug=f"s{number}", name=f"S{number}")
            for gpu in GpuModel.objects.all():
                for region in Region.objects.all():
                    offer = Offer.objects.create(
                        supplier=supplier,
                        gpu=gpu,
                        region=region,
                        nodes=1,
                        free_nodes=1,
                        listed_at=now,
                    )
                    OfferPrice.objects.create(
                        offer=offer,
                        hourly_price="1.00",
                        valid_from=now,
                        confirmed_at=now,
                        created_at=now,
                    )

    return come


@pytest.mark.parametrize("language", ["", "/es", "/id"])
@pytest.mark.parametrize("path", PATHS)
def test_is_open_to_everybody(catalog, client, path, language):
    assert client.get(f"{language}{path}").status_code == 200


@pytest.mark.parametrize("path", PATHS)
def test_asks_at_most_ten_queries(catalog, renter_client, path):
    renter_client.get(path)

    assert queries_of(renter_client, path) <= 10


@pytest.mark.parametrize("path", ["/planner/", "/gpus/rtx-4090/", PATHS[-1]])
def test_asks_as_many_queries_for_many_rows(crowd, client, path):
    client.get(path)
    before = queries_of(client, path)
    crowd()

    assert queries_of(client, path) == before


@pytest.mark.parametrize("path", PATHS)
def test_is_only_read(catalog, client, path):
    assert client.post(path).status_code == 405
