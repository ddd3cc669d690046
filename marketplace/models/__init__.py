from marketplace.models.launch import Launch, LaunchEvent, OpeningLetter
from marketplace.models.matches import Match, MatchRun, Replay
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
    "MatchRun",
    "OpeningLetter",
    "Replay",
    "StartNotice",
    "SupplierMember",
    "User",
]
