import pytest
from django.db import IntegrityError, connection, transaction

from catalog.models import Offer


@pytest.mark.parametrize(
    "change",
    [
        "free_nodes = -1",
        "free_nodes = nodes + 1",
        "nodes = 3",
        "gpus_per_node = 0",
        "gpus_per_node = 17",
    ],
)
def test_refuse_in_the_database(offer, change):
    before = Offer.objects.values().get()

    with (
        pytest.raises(IntegrityError),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(f"UPDATE catalog_offer SET {change}")

    assert Offer.objects.values().get() == before


def test_r13_are_one_per_supplier_gpu_region_and_size(offer, make_offer):
    with (
        pytest.raises(IntegrityError, match="offer_unique_per_supplier"),
        transaction.atomic(),
    ):
        make_offer()

    assert make_offer(gpus_per_node=8).pk
