"""
The port to payment providers: what every adapter does, in the site's own terms.

Adapters are called outside transactions, with a time limit, and with a key of ours, so
that asking again after a lost answer gives the first answer and never a second payment.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from djmoney.money import Money

from billing.models import ProviderMovement

Category = ProviderMovement.Category

# By Stripe's reporting categories, which the sandbox uses too.
CATEGORIES = {
    "charge": Category.PAYMENT,
    "charge_failure": Category.PAYMENT,
    "refund": Category.REFUND,
    "refund_failure": Category.REFUND,
    "dispute": Category.DISPUTE,
    "dispute_reversal": Category.DISPUTE,
    "fee": Category.FEE,
    "network_cost": Category.FEE,
    "payout": Category.PAYOUT,
    "payout_reversal": Category.PAYOUT,
}


class GatewayError(Exception):
    """
    The provider refused; asking again with the same key changes nothing.
    """

    def __init__(self, message: str | Promise) -> None:
        super().__init__(message)
        self.message = message


class OutcomeUnknown(GatewayError):
    """
    No answer came: the provider may or may not have done it. Ask again, same key.
    """

    def __init__(self) -> None:
        super().__init__(
            _(
                "The payment provider did not answer. Nothing is lost: this page shows"
                " the payment as soon as it is known."
            )
        )


class CardDeclined(GatewayError):
    """
    The bank refused the card.
    """


class NotAtProvider(GatewayError):
    """
    The provider knows nothing of this name.
    """


@dataclass(frozen=True, kw_only=True)
class CheckoutOrder:
    """
    One payment to be made on the provider's page; `reference` is our row's.
    """

    key: str
    reference: str
    total: Money
    description: str
    email: str
    language: str
    return_url: str
    expires_at: datetime
    saves_card_for: str = ""


@dataclass(frozen=True, kw_only=True)
class Checkout:
    """
    Where the customer pays, and what the provider calls it.
    """

    provider_ref: str
    url: str


@dataclass(frozen=True, kw_only=True)
class CardOrder:
    """
    A payment from a saved card, without the customer present.
    """

    key: str
    reference: str
    total: Money
    customer_ref: str
    card_ref: str


@dataclass(frozen=True, kw_only=True)
class RefundOrder:
    """
    Money that goes back to the card it came from.
    """

    key: str
    reference: str
    payment_id: str
    total: Money


@dataclass(frozen=True, kw_only=True)
class ProviderObject:
    """
    An object as the provider knows it now, in the shape that its events carry.

    The payment intent of a checkout session is written out, not only named.
    """

    kind: str
    body: dict[str, object]


@dataclass(frozen=True, kw_only=True)
class Movement:
    """
    One change of what the provider keeps for us: `amount` less the provider's `fee`.

    `kind` is the provider's own word for it. `payment_id` names the payment that it
    belongs to, and is empty if it belongs to none.
    """

    ref: str
    kind: str
    category: Category
    source: str
    payment_id: str
    amount: Money
    fee: Money
    happened_at: datetime


class Gateway(Protocol):
    """
    A payment provider.

    Each method raises GatewayError when the provider refuses and OutcomeUnknown when
    no answer came in time; `fetch` raises NotAtProvider for what there is not.
    """

    @property
    def name(self) -> str: ...

    @property
    def is_live(self) -> bool: ...

    def open_customer(self, *, key: str, email: str) -> str: ...

    def describe_card(self, card_ref: str) -> str: ...

    def forget_card(self, card_ref: str) -> None: ...

    def open_checkout(self, order: CheckoutOrder) -> Checkout: ...

    def charge_card(self, order: CardOrder) -> ProviderObject: ...

    def refund(self, order: RefundOrder) -> ProviderObject: ...

    def fetch(self, *, kind: str, provider_ref: str) -> ProviderObject: ...

    def movements(self, *, since: datetime, until: datetime) -> Iterator[Movement]: ...
