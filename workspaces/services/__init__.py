"""
The verbs of requests and workspaces; each is one transaction.
"""

from workspaces.services.drafts import TooManyDrafts, save_draft
from workspaces.services.extending import (
    CANNOT_EXTEND,
    CannotExtend,
    extend_workspace,
    switch_auto_extend,
)
from workspaces.services.failing import fail_workspace, put_back_late_start
from workspaces.services.funding import (
    CANNOT_FUND,
    QuoteExpired,
    cancel_workspace,
    expire_workspace,
    fund_workspace,
)
from workspaces.services.guarding import TooMuch, end_automatic_extension
from workspaces.services.keys import add_key
from workspaces.services.moves import IllegalMove
from workspaces.services.quotes import (
    CannotQuote,
    WantedWorkspace,
    best_offer,
    exchanged,
    quote_again,
    quote_workspace,
)
from workspaces.services.reconciling import close_discrepancy, overdue, reconcile
from workspaces.services.reminding import send_reminders
from workspaces.services.resuming import WantedResume, give_up_resume, quote_resume
from workspaces.services.starting import (
    PriceOverLimit,
    begin_provisioning,
    match_workspace,
    queue_funded,
    start_workspace,
)
from workspaces.services.stopping import (
    NothingToKeep,
    StillPaid,
    delete_data,
    end_workspace,
    interrupt_workspace,
    stop_workspace,
)
from workspaces.services.sweeps import end_due, provision_due, stop_disputed

__all__ = [
    "CANNOT_EXTEND",
    "CANNOT_FUND",
    "CannotExtend",
    "CannotQuote",
    "IllegalMove",
    "NothingToKeep",
    "PriceOverLimit",
    "QuoteExpired",
    "StillPaid",
    "TooManyDrafts",
    "TooMuch",
    "WantedResume",
    "WantedWorkspace",
    "add_key",
    "begin_provisioning",
    "best_offer",
    "cancel_workspace",
    "close_discrepancy",
    "delete_data",
    "end_automatic_extension",
    "end_due",
    "end_workspace",
    "exchanged",
    "expire_workspace",
    "extend_workspace",
    "fail_workspace",
    "fund_workspace",
    "give_up_resume",
    "interrupt_workspace",
    "match_workspace",
    "overdue",
    "provision_due",
    "put_back_late_start",
    "queue_funded",
    "quote_again",
    "quote_resume",
    "quote_workspace",
    "reconcile",
    "save_draft",
    "send_reminders",
    "start_workspace",
    "stop_disputed",
    "stop_workspace",
    "switch_auto_extend",
]
