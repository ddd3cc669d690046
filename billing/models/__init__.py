"""
The tables of the money. Other apps call ``billing.services`` instead.
"""

from billing.models.cards import AutoTopUp, Card
from billing.models.events import ProviderEvent
from billing.models.holds import Charge, EndWarning, Hold, Meter, MeterFault
from billing.models.invoices import Invoice, InvoiceSeries
from billing.models.ledger import Account, Transfer, UsedKey, Wallet, WalletEvent
from billing.models.movements import ProviderMovement, Reconciliation
from billing.models.payments import Dispute, Refund, TopUp
from billing.models.payouts import BankAccount, Payout
from billing.models.sandbox import SandboxDelivery, SandboxMovement, SandboxPayment
from billing.models.tax import BillingProfile, VatRate

__all__ = [
    "Account",
    "AutoTopUp",
    "BankAccount",
    "BillingProfile",
    "Card",
    "Charge",
    "Dispute",
    "EndWarning",
    "Hold",
    "Invoice",
    "InvoiceSeries",
    "Meter",
    "MeterFault",
    "Payout",
    "ProviderEvent",
    "ProviderMovement",
    "Reconciliation",
    "Refund",
    "SandboxDelivery",
    "SandboxMovement",
    "SandboxPayment",
    "TopUp",
    "Transfer",
    "UsedKey",
    "VatRate",
    "Wallet",
    "WalletEvent",
]
