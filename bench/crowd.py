"""
Fills the catalog with offers of many suppliers, each with four versions of its price.
"""

import time
from collections.abc import Callable
from http import HTTPStatus

from django.contrib.auth import get_user_model
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

import clock
from catalog.models import Region
from catalog.price_files import read_lines, written_lines
from catalog.price_plans import plan_prices
from catalog.services import load_catalog, set_prices

REGIONS = 4
VERSIONS = 4

SUPPLIERS = """
INSERT INTO catalog_supplier (slug, name, is_verified, is_demo)
SELECT 'crowd-' || n, 'Crowd ' || n, false, true FROM generate_series(1, %(count)s) AS n
"""

# Every GPU, region and supplier in turn, as many as are asked for.
CROWD = """
INSERT INTO catalog_offer (supplier_id, gpu_id, region_id, gpus_per_node, nodes,
    free_nodes, leaving_nodes, is_listed, listed_at)
SELECT supplier.id, gpu.id, region.id, 1, 4, (supplier.id + gpu.id) %% 5, 0, true,
    %(at)s - interval '120 days'
FROM catalog_supplier AS supplier
CROSS JOIN catalog_region AS region CROSS JOIN catalog_gpumodel AS gpu
WHERE supplier.slug LIKE 'crowd-%%'
ORDER BY supplier.id, region.id, gpu.id LIMIT %(count)s
"""

# Between 80 and 120 % of what one would think; the newest is three days old.
PRICES = """
INSERT INTO catalog_offerprice (offer_id, hourly_price, hourly_price_currency,
    valid_from, confirmed_at, created_at, reason)
SELECT offer.id,
    round(gpu.memory_gb / 40 * (80 + (offer.id * 7919 + n * 31) %% 41) / 100, 4),
    CASE WHEN offer.id %% 10 = 0 THEN 'EUR' ELSE 'USD' END,
    %(at)s - n * interval '20 days' - interval '3 days',
    %(at)s - (n - 1) * interval '20 days' - interval '3 days',
    %(at)s - n * interval '20 days' - interval '3 days', ''
FROM catalog_offer AS offer
JOIN catalog_gpumodel AS gpu ON gpu.id = offer.gpu_id
JOIN catalog_supplier AS supplier ON supplier.id = offer.supplier_id
CROSS JOIN generate_series(1, %(versions)s) AS n
WHERE supplier.slug LIKE 'crowd-%%'
ORDER BY offer.id, n DESC
"""


def build(offers: int) -> None:
    """
    Load the catalog of the data files and add this many offers to it.
    """
    at = clock.now()
    load_catalog(at=at)
    for number in range(REGIONS - Region.objects.count()):
        Region.objects.create(
            slug=f"crowd-{number}", name=f"Crowd {number}", city="Oslo", country="NO"
        )
    row = {"count": offers, "at": at, "versions": VERSIONS}
    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 0")
        for statement in (SUPPLIERS, CROWD, PRICES):
            cursor.execute(statement, row)
        # As the database does by itself within minutes, of what triggers have rewritten.
        cursor.execute("VACUUM ANALYZE")


def visitor(path: str, *, is_part: bool = False) -> Callable[[], None]:
    """
    Return a visit of the page, or of the part of it that htmx asks for.
    """
    part = {"hx-request": "true"} if is_part else {}
    client = Client(headers={"host": "localhost", **part})

    def visit() -> None:
        response = client.get(path)
        assert response.status_code == HTTPStatus.OK, response

    return visit


def queries_of(visit: Callable[[], None]) -> int:
    """
    Return how many queries a visit asks when nothing is new to the process.
    """
    visit()
    with CaptureQueriesContext(connection) as queries:
        visit()
    return len(queries)


def price_all() -> tuple[int, float, float]:
    """
    Make all prices a cent dearer by file; return the lines and the seconds it took.
    """
    at = clock.now()
    head, *rows = "".join(written_lines(at=at)).splitlines()
    lines = "\n".join([head, *(_dearer(row) for row in rows)])
    start = time.perf_counter()
    plan = plan_prices(read_lines(lines), at=at)
    planned = time.perf_counter()
    assert not plan.refused, plan.refused[0]
    actor = get_user_model().objects.create_user("staff@example.com")
    done = set_prices(lines=read_lines(lines), actor=actor, at=at)
    # Those far from the median wait until somebody approves them.
    assert done.count_to_save == len(rows)
    return len(rows), planned - start, time.perf_counter() - planned


def _dearer(row: str) -> str:
    *key, price, currency, _valid_from, _reason = row.split(",")
    return ",".join([*key, f"{float(price) + 0.01:.6f}", currency, "", "bench"])
