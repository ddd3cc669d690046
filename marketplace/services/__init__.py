"""
Who trades, when the market opens, and who gets which node.
"""

from marketplace.services.accounts import sign_up
from marketplace.services.launching import (
    NotOpen,
    ReasonMissing,
    open_doors,
    open_market,
    open_when_due,
    pause_market,
    plan_opening,
)
from marketplace.services.matching import match_market
from marketplace.services.opening_mails import send_opening_mails
from marketplace.services.previewing import DryRun, preview_opening
from marketplace.services.replaying import replay_matches

__all__ = [
    "DryRun",
    "NotOpen",
    "ReasonMissing",
    "match_market",
    "open_doors",
    "open_market",
    "open_when_due",
    "pause_market",
    "plan_opening",
    "preview_opening",
    "replay_matches",
    "send_opening_mails",
    "sign_up",
]
