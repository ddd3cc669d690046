"""
The writes of the catalog, as other apps call them.
"""

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
    "CannotUndo",
    "FileApplied",
    "InStock",
    "NoFreeNode",
    "PlanMoved",
    "PriceFarFromMedian",
    "PriceNotMeant",
    "PriceRefused",
    "PricesRefused",
    "TooManyAlerts",
    "apply_file",
    "ask_for_alert",
    "check_price",
    "confirm_price",
    "confirm_prices",
    "confirm_prices_of",
    "keep_file",
    "load_catalog",
    "median_price",
    "return_node",
    "set_nodes",
    "set_price",
    "set_prices",
    "stop_alert",
    "take_node",
    "take_returns",
    "undo_price",
    "undo_save",
    "withdraw_node",
]
