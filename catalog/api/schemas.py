"""
What the API answers. Names are stable: a field may be added, none changes or goes
before the next version in the address.

A name ends in its unit. Amounts and figures with decimals are text, so that no reader
takes them for binary fractions; amounts are ex tax. A GB of a card's memory has 2^30
bytes. Times are RFC 3339 in UTC.
"""

from datetime import datetime
from typing import Annotated, Generic, TypeVar

from django.utils.translation import gettext_noop as _
from pydantic import BaseModel as Answer
from pydantic import Field

Item = TypeVar("Item")

Amount = Annotated[str, Field(pattern=r"^\d+\.\d{2,6}$", examples=["0.33"])]
Figure = Annotated[str, Field(pattern=r"^\d+(\.\d+)?$", examples=["24"])]

OF_NODE = _("Of the whole node; empty where its supplier did not say.")


class Page(Answer, Generic[Item]):
    items: list[Item]
    total: int = Field(description=_("How many there are in all."))
    limit: int
    offset: int
    next: str | None = Field(
        description=_("The address of the following ones, empty after the last.")
    )


class Price(Answer):
    amount: Amount = Field(description=_("Ex tax."))
    currency: str = Field(description=_("Three letters, ISO 4217."))


class BestAsk(Answer):
    """
    The cheapest live ask of a GPU in a region.
    """

    offer_id: int
    region: str
    supplier: str
    price_per_gpu_hour: Price
    as_of: datetime = Field(
        description=_("When somebody last said that the price is true.")
    )
    gpus_per_node: int
    free_nodes: int = Field(
        description=_("All free nodes of this size there, of all suppliers.")
    )


class LargestModel(Answer):
    """
    The largest base model by the rule of thumb, in billions of parameters.
    """

    qlora_billion_parameters: int
    lora_billion_parameters: int
    full_billion_parameters: int


class Gpu(Answer):
    slug: str
    name: str
    label: str
    vendor: str
    architecture: str
    form_factor: str
    memory_gb: Figure = Field(description=_("Memory of one GPU; a GB has 2^30 bytes."))
    memory_type: str
    memory_bandwidth_gb_per_s: int
    fp8_dense_tflops: Figure | None
    fp16_dense_tflops: Figure | None
    bf16_dense_tflops: Figure | None
    fp32_dense_tflops: Figure | None
    fp64_dense_tflops: Figure | None
    power_limit_w: Figure
    gpu_link: str
    launch_year: int
    source_url: str
    page_url: str
    rule_of_thumb: LargestModel
    best_asks: list[BestAsk] = Field(
        description=_("For nodes with one GPU: the cheapest region first.")
    )


class Region(Answer):
    slug: str
    name: str
    city: str
    country_code: str = Field(description=_("Two letters, ISO 3166."))


class BaseModel(Answer):
    slug: str
    name: str
    hugging_face_id: str
    family: str
    billion_parameters: Figure
    context_tokens: int | None
    license: str
    source_url: str


class Offer(Answer):
    id: int
    gpu: str
    region: str
    country_code: str
    supplier: str
    supplier_slug: str
    is_supplier_verified: bool
    is_demo: bool = Field(description=_("Invented, to show how the market works."))
    gpus_per_node: int = Field(description=_("Nodes are only let as a whole."))
    free_nodes: int
    price_per_gpu_hour: Price
    as_of: datetime = Field(
        description=_("When somebody last said that the price is true.")
    )
    listed_at: datetime
    available_until: datetime | None
    cpu_cores: int | None = Field(description=OF_NODE)
    ram_gb: int | None = Field(description=OF_NODE)
    disk_gb: int | None = Field(description=OF_NODE)
    network_gbit_per_s: Figure | None = Field(description=OF_NODE)
    cuda_version: str | None = Field(description=OF_NODE)


class HistoryPoint(Answer):
    """
    How the asks stood at a moment; empty while nobody asked anything that counted.
    """

    at: datetime
    asks: int = Field(description=_("How many asks counted."))
    best_ask_amount: Amount | None
    p10_amount: Amount | None
    median_amount: Amount | None
    p90_amount: Amount | None


class PriceHistory(Answer):
    gpu: str
    region: str
    currency: str
    currencies: list[str] = Field(
        description=_("All that somebody asked in there, the most frequent first.")
    )
    days: int
    points: list[HistoryPoint] = Field(
        description=_("00:00 UTC of each day and the last full minute, oldest first.")
    )


class MemoryPart(Answer):
    part: str
    memory_gb: Figure


class Change(Answer):
    """
    A single change after which it fits, or is tight at least.
    """

    change: str
    needed_gb: Figure
    verdict: str
    is_provisional: bool
    planner_url: str


class WindowCost(Answer):
    hours: int
    compute: Price
    storage: Price
    total: Price


class EstimateRow(Answer):
    gpu: str
    verdict: str = Field(description=_("`fits`, `tight` or `no`."))
    usable_gb: Figure = Field(
        description=_("The memory of one GPU that a process can use.")
    )
    missing_gb: Figure = Field(description=_("What it is short of."))
    changes: list[Change]
    best_asks: list[BestAsk]
    costs: list[WindowCost] = Field(
        description=_("At the best ask, with storage while it runs.")
    )


class Estimate(Answer):
    model: str | None
    method: str
    gpus: int
    needed_gb: Figure = Field(
        description=_("What each GPU needs at least; a GB has 2^30 bytes.")
    )
    wide_gb: Figure = Field(description=_("What nvidia-smi may show, with the cache."))
    parts: list[MemoryPart]
    evidence: str = Field(
        description=_("`measured`, `modelled` or `provisional`: how well it is held.")
    )
    storage_plan: str | None
    planner_url: str = Field(description=_("The page that shows the same."))
    rows: list[EstimateRow] = Field(
        description=_("What can run and be rented first, there the cheapest first.")
    )


class Cost(Answer):
    gpu: str
    gpus: int
    hours: int
    storage_gb: int
    kept_days: int
    ask: BestAsk
    storage_plan: str | None
    storage_price_per_gb_month: Price | None = Field(
        description=_("A month has 730 hours.")
    )
    compute: Price = Field(description=_("Hours × GPUs × price per GPU-hour."))
    storage: Price = Field(description=_("Storage while it runs."))
    kept_storage: Price = Field(description=_("Storage after it ran."))
    total: Price = Field(description=_("The sum: each part is rounded half up."))


class Index(Answer):
    """
    Where everything is.
    """

    name: str
    documentation_url: str
    openapi_url: str
    gpus_url: str
    regions_url: str
    models_url: str
    offers_url: str
    estimate_url: str
    offers_csv_url: str
    gpuhunt_csv_url: str
    skypilot_csv_url: str
