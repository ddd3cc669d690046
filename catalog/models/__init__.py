from catalog.models.alerts import StockAlert
from catalog.models.files import NodeFile, PriceFile
from catalog.models.guides import Workload, WorkloadBlock, WorkloadGpu, WorkloadText
from catalog.models.hardware import GpuModel, Region
from catalog.models.listings import Listing
from catalog.models.offers import Offer, OfferPrice, Supplier
from catalog.models.price_proposals import PriceProposal
from catalog.models.software import BaseModel, Image, Method, StoragePlan

__all__ = [
    "BaseModel",
    "GpuModel",
    "Image",
    "Listing",
    "Method",
    "NodeFile",
    "Offer",
    "OfferPrice",
    "PriceFile",
    "PriceProposal",
    "Region",
    "StockAlert",
    "StoragePlan",
    "Supplier",
    "Workload",
    "WorkloadBlock",
    "WorkloadGpu",
    "WorkloadText",
]
