"""
The tables of the money. Other apps call ``billing.services`` instead.
"""

from billing.models.cards import AutoTopUp, Card
from billing.models.events import ProviderEvent
from billing.models.holds import Charge, EndWarning, Hold, Meter, MeterFault
from billing.models.invoices import Invoice, InvoiceSeries
from billing.models.ledger import Account, Transfer, UsedKey, Wallet
from billing.models.payments import Dispute, Refund, TopUp
from billing.models.payouts import BankAccount, Payout
from billing.models.sandbox import SandboxDelivery, SandboxPayment
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
    "Refund",
    "SandboxDelivery",
    "SandboxPayment",
    "TopUp",
    "Transfer",
    "UsedKey",
    "VatRate",
    "Wallet",
]
