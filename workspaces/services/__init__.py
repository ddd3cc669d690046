"""
The verbs of requests and workspaces; each is one transaction.
"""

from workspaces.services.funding import (
    CANNOT_FUND,
    QuoteExpired,
    cancel_workspace,
    expire_workspace,
    fund_workspace,
)
from workspaces.services.lifecycle import (
    NothingToKeep,
    PriceOverLimit,
    begin_provisioning,
    delete_data,
    fail_workspace,
    match_workspace,
    queue_funded,
    start_workspace,
    stop_workspace,
)
from workspaces.services.moves import IllegalMove
from workspaces.services.quotes import (
    CannotQuote,
    WantedWorkspace,
    best_offer,
    exchanged,
    quote_again,
    quote_workspace,
)
from workspaces.services.sweeps import end_due, provision_due

__all__ = [
    "CANNOT_FUND",
    "CannotQuote",
    "IllegalMove",
    "NothingToKeep",
    "PriceOverLimit",
    "QuoteExpired",
    "WantedWorkspace",
    "begin_provisioning",
    "best_offer",
    "cancel_workspace",
    "delete_data",
    "end_due",
    "exchanged",
    "expire_workspace",
    "fail_workspace",
    "fund_workspace",
    "match_workspace",
    "provision_due",
    "queue_funded",
    "quote_again",
    "quote_workspace",
    "start_workspace",
    "stop_workspace",
]
