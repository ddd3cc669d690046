"""
The tables of the money. Other apps call ``billing.services`` instead.
"""

from billing.models.holds import Charge, EndWarning, Hold, Meter, MeterFault
from billing.models.ledger import Account, Transfer, UsedKey, Wallet

__all__ = [
    "Account",
    "Charge",
    "EndWarning",
    "Hold",
    "Meter",
    "MeterFault",
    "Transfer",
    "UsedKey",
    "Wallet",
]
