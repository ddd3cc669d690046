from marketplace.models.launch import Launch, LaunchEvent
from marketplace.models.matches import Match
from marketplace.models.people import User
from marketplace.models.suppliers import (
    Check,
    Company,
    CompanyEvent,
    StartNotice,
    SupplierMember,
)

__all__ = [
    "Check",
    "Company",
    "CompanyEvent",
    "Launch",
    "LaunchEvent",
    "Match",
    "StartNotice",
    "SupplierMember",
    "User",
]
