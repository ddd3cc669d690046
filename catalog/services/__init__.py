"""
The writes of the catalog, as other apps call them.
"""

from catalog.demo_prices import invent_past_prices
from catalog.loading import load_catalog
from catalog.price_bounds import PriceFarFromMedian, PriceNotMeant, PriceRefused
from catalog.services.alerts import (
    MOST_ALERTS,
    InStock,
    TooManyAlerts,
    ask_for_alert,
    stop_alert,
    take_returns,
)
from catalog.services.listings import (
    AskNeedsStaff,
    BelowFloor,
    NodeListed,
    Nodes,
    change_nodes,
    check_ask,
    current_ask,
    list_nodes,
    pause_nodes,
    remove_nodes,
    resume_nodes,
    suspend_supplier,
    verify_supplier,
)
from catalog.services.node_lists import (
    NodesRefused,
    apply_node_file,
    keep_node_file,
)
from catalog.services.nodes import (
    NoFreeNode,
    return_node,
    set_nodes,
    take_node,
    withdraw_node,
)
from catalog.services.price_lists import (
    CannotUndo,
    FileApplied,
    PlanMoved,
    PricesRefused,
    apply_file,
    keep_file,
    set_prices,
    undo_price,
    undo_save,
)
from catalog.services.price_proposals import (
    CannotDecide,
    approve_prices,
    propose_price,
    refuse_prices,
)
from catalog.services.prices import (
    check_price,
    confirm_price,
    confirm_prices,
    confirm_prices_of,
    median_price,
    set_price,
)

__all__ = [
    "MOST_ALERTS",
    "AskNeedsStaff",
    "BelowFloor",
    "CannotDecide",
    "CannotUndo",
    "FileApplied",
    "InStock",
    "NoFreeNode",
    "NodeListed",
    "Nodes",
    "NodesRefused",
    "PlanMoved",
    "PriceFarFromMedian",
    "PriceNotMeant",
    "PriceRefused",
    "PricesRefused",
    "TooManyAlerts",
    "apply_file",
    "apply_node_file",
    "approve_prices",
    "ask_for_alert",
    "change_nodes",
    "check_ask",
    "check_price",
    "confirm_price",
    "confirm_prices",
    "confirm_prices_of",
    "current_ask",
    "invent_past_prices",
    "keep_file",
    "keep_node_file",
    "list_nodes",
    "load_catalog",
    "median_price",
    "pause_nodes",
    "propose_price",
    "refuse_prices",
    "remove_nodes",
    "resume_nodes",
    "return_node",
    "set_nodes",
    "set_price",
    "set_prices",
    "stop_alert",
    "suspend_supplier",
    "take_node",
    "take_returns",
    "undo_price",
    "undo_save",
    "verify_supplier",
    "withdraw_node",
]
