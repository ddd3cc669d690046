"""
The machine around the GPUs of a node, as its supplier describes it at its desk.

Offers that staff listed have none: nothing is known of their machines.
"""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

FIELDS = ("cpu_cores", "ram_gb", "disk_gb", "network_gbps", "cuda_version")
# The same, as columns of an offer.
COLUMNS = tuple(f"listing__{name}" for name in FIELDS)


@dataclass(frozen=True, kw_only=True, slots=True)
class Machine:
    """
    What a whole node has; `cuda_version` is empty without CUDA.
    """

    cpu_cores: int
    ram_gb: int
    disk_gb: int
    network_gbps: Decimal
    cuda_version: str


def machine_of(row: Any) -> Machine | None:
    """
    Return the machine of a row that has the columns above, None if it has no listing.
    """
    if row.listing__cpu_cores is None:
        return None
    return Machine(**{name: getattr(row, f"listing__{name}") for name in FIELDS})
