"""
The live offers as CSV: in columns of our own, and as gpuhunt and SkyPilot read them.

Both tools know one price an hour for a whole node, in US dollars. What is asked in
another currency is converted at the day rate by which asks are compared here; without
a known rate it is left out. They also want to know processors and main memory: where a
supplier did not say, both are 0. Not a guess: a tool that asks for a minimum then does
not find it, instead of something that may not be there.
"""

import json
from collections.abc import Iterable, Iterator
from decimal import Decimal
from functools import cache

from catalog.live_offers import LiveOffer
from catalog.tool_names import dstack_name, skypilot_name
from csv_files import Value, csv_lines
from money import plain, round_half_up

PLACES = 6
MIB_PER_GB = 1024
OFFER_COLUMNS = (
    "offer_id",
    "gpu",
    "gpu_memory_gb",
    "region",
    "country_code",
    "supplier",
    "supplier_slug",
    "is_supplier_verified",
    "is_demo",
    "gpus_per_node",
    "free_nodes",
    "price_per_gpu_hour",
    "currency",
    "as_of",
    "listed_at",
    "available_until",
    "cpu_cores",
    "ram_gb",
    "disk_gb",
    "network_gbit_per_s",
    "cuda_version",
)
# gpuhunt._internal.storage.CATALOG_V2_FIELDS
GPUHUNT_COLUMNS = (
    "instance_name",
    "location",
    "price",
    "cpu",
    "memory",
    "gpu_count",
    "gpu_name",
    "gpu_memory",
    "spot",
    "disk_size",
    "gpu_vendor",
    "flags",
    "cpu_arch",
    "provider_data",
)
# <cloud>/vms.csv of skypilot-org/skypilot-catalog, as its fetchers write it.
SKYPILOT_COLUMNS = (
    "InstanceType",
    "AcceleratorName",
    "AcceleratorCount",
    "vCPUs",
    "MemoryGiB",
    "Price",
    "Region",
    "GpuInfo",
    "SpotPrice",
)


def offers(found: Iterable[LiveOffer[str]]) -> Iterator[str]:
    return csv_lines(OFFER_COLUMNS, (_offer_row(offer) for offer in found))


def gpuhunt(found: Iterable[LiveOffer[str]]) -> Iterator[str]:
    rows = (_gpuhunt_row(offer, price) for offer, price in _in_dollars(found))
    return csv_lines(GPUHUNT_COLUMNS, rows)


def skypilot(found: Iterable[LiveOffer[str]]) -> Iterator[str]:
    rows = (_skypilot_row(offer, price) for offer, price in _in_dollars(found))
    return csv_lines(SKYPILOT_COLUMNS, rows)


def _offer_row(offer: LiveOffer[str]) -> tuple[Value, ...]:
    return (
        offer.offer_id,
        offer.gpu,
        offer.gpu_memory_gb,
        offer.region,
        offer.country,
        offer.supplier,
        offer.supplier_slug,
        _yes_no(offer.is_supplier_verified),
        _yes_no(offer.is_demo),
        offer.gpus_per_node,
        offer.free_nodes,
        plain(offer.amount),
        offer.currency,
        offer.as_of,
        offer.listed_at,
        offer.available_until,
        offer.cpu_cores,
        offer.ram_gb,
        offer.disk_gb,
        offer.network_gbps,
        offer.cuda_version,
    )


def _in_dollars(
    found: Iterable[LiveOffer[str]],
) -> Iterator[tuple[LiveOffer[str], str]]:
    for offer in found:
        if offer.comparable is not None:
            node = round_half_up(offer.comparable, PLACES) * offer.gpus_per_node
            yield offer, plain(node)


def _instance(offer: LiveOffer[str]) -> str:
    """
    Name a node: a supplier has one offer of a GPU and a size in a region.
    """
    return f"{offer.supplier_slug}_{offer.gpu}_{offer.gpus_per_node}x"


def _gpuhunt_row(offer: LiveOffer[str], price: str) -> tuple[Value, ...]:
    details = {
        "offer_id": offer.offer_id,
        "gpu": offer.gpu,
        "supplier": offer.supplier,
        "free_nodes": offer.free_nodes,
        "price_per_gpu_hour": plain(offer.amount),
        "currency": offer.currency,
        "as_of": offer.as_of,
    }
    return (
        _instance(offer),
        offer.region,
        price,
        offer.cpu_cores or 0,
        offer.ram_gb or 0,
        offer.gpus_per_node,
        dstack_name(slug=offer.gpu, label=offer.gpu_label),
        offer.gpu_memory_gb,
        "False",
        offer.disk_gb,
        offer.gpu_vendor.lower(),
        None,
        "x86",
        json.dumps(details),
    )


def _skypilot_row(offer: LiveOffer[str], price: str) -> tuple[Value, ...]:
    name = skypilot_name(slug=offer.gpu, label=offer.gpu_label)
    return (
        _instance(offer),
        name,
        Decimal(offer.gpus_per_node),
        offer.cpu_cores or 0,
        offer.ram_gb or 0,
        price,
        offer.region,
        _gpu_info(name, offer.gpu_vendor, offer.gpu_memory_gb, offer.gpus_per_node),
        None,
    )


@cache
def _gpu_info(name: str, vendor: str, memory_gb: Decimal, count: int) -> str:
    """
    Describe the GPUs of a node: SkyPilot reads it back as a literal of Python.
    """
    mib = int(memory_gb * MIB_PER_GB)
    one = {
        "Name": name,
        "Manufacturer": vendor,
        "Count": float(count),
        "MemoryInfo": {"SizeInMiB": mib},
    }
    return repr({"Gpus": [one], "TotalGpuMemoryInMiB": mib * count})


def _yes_no(value: bool) -> str:
    return "yes" if value else "no"
