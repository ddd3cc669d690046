"""
The only module that talks to Stripe.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any

import stripe
from django.conf import settings
from django.utils.translation import gettext_lazy as _

from billing.gateway import (
    CATEGORIES,
    CardDeclined,
    CardOrder,
    Category,
    Checkout,
    CheckoutOrder,
    GatewayError,
    Movement,
    NotAtProvider,
    OutcomeUnknown,
    ProviderObject,
    RefundOrder,
)
from money import from_minor, to_minor

logger = logging.getLogger(__name__)

# What the shapes in `billing.services.events` were written for.
API_VERSION = "2026-10-28.endive"
TIMEOUT_SECONDS = 10
LARGEST_PAGE = 100
# Nothing is known after these: the request may have been carried out.
UNCLEAR = (stripe.APIConnectionError, stripe.APIError, stripe.RateLimitError)


class StripeGateway:
    name = "stripe"

    def __init__(self, *, api_url: str = "https://api.stripe.com") -> None:
        # No retries of the SDK's own: a lost answer is a state of our row, and the
        # next try, with the same key, is made when nobody waits for a page.
        self.client = stripe.StripeClient(
            settings.STRIPE_SECRET_KEY,
            stripe_version=API_VERSION,
            base_addresses={"api": api_url},
            max_network_retries=0,
            http_client=stripe.RequestsClient(timeout=TIMEOUT_SECONDS),
        )

    @property
    def is_live(self) -> bool:
        return "_live_" in settings.STRIPE_SECRET_KEY

    def open_customer(self, *, key: str, email: str) -> str:
        with errors_translated():
            customer = self.client.v1.customers.create(
                params={"email": email}, options={"idempotency_key": key}
            )
        return customer.id

    def describe_card(self, card_ref: str) -> str:
        with errors_translated():
            card = self.client.v1.payment_methods.retrieve(card_ref).card
        return f"{card.brand.title()} •••• {card.last4}" if card else card_ref

    def forget_card(self, card_ref: str) -> None:
        with errors_translated():
            self.client.v1.payment_methods.detach(card_ref)

    def open_checkout(self, order: CheckoutOrder) -> Checkout:
        payment: dict[str, Any] = {"metadata": {"top_up": order.reference}}
        buyer: dict[str, Any] = {"customer_email": order.email}
        if order.saves_card_for:
            payment["setup_future_usage"] = "off_session"
            buyer = {"customer": order.saves_card_for}
        line = {
            "quantity": 1,
            "price_data": {
                "currency": str(order.total.currency).lower(),
                "unit_amount": to_minor(order.total),
                "product_data": {"name": order.description},
            },
        }
        params: Any = {
            "mode": "payment",
            "client_reference_id": order.reference,
            "metadata": {"top_up": order.reference},
            "payment_intent_data": payment,
            "line_items": [line],
            "locale": order.language,
            "success_url": order.return_url,
            "cancel_url": order.return_url,
            "expires_at": int(order.expires_at.timestamp()),
            **buyer,
        }
        with errors_translated():
            session = self.client.v1.checkout.sessions.create(
                params=params, options={"idempotency_key": order.key}
            )
        return Checkout(provider_ref=session.id, url=session.url or "")

    def charge_card(self, order: CardOrder) -> ProviderObject:
        params: Any = {
            "amount": to_minor(order.total),
            "currency": str(order.total.currency).lower(),
            "customer": order.customer_ref,
            "payment_method": order.card_ref,
            "metadata": {"top_up": order.reference},
            "off_session": True,
            "confirm": True,
        }
        with errors_translated():
            intent = self.client.v1.payment_intents.create(
                params=params, options={"idempotency_key": order.key}
            )
        return ProviderObject(kind="payment_intent", body=intent.to_dict())

    def refund(self, order: RefundOrder) -> ProviderObject:
        with errors_translated():
            refund = self.client.v1.refunds.create(
                params={
                    "payment_intent": order.payment_id,
                    "amount": to_minor(order.total),
                    "metadata": {"refund": order.reference},
                },
                options={"idempotency_key": order.key},
            )
        return ProviderObject(kind="refund", body=refund.to_dict())

    def fetch(self, *, kind: str, provider_ref: str) -> ProviderObject:
        v1 = self.client.v1
        retrieve: dict[str, Callable[[], stripe.StripeObject]] = {
            "checkout.session": lambda: v1.checkout.sessions.retrieve(
                provider_ref, {"expand": ["payment_intent"]}
            ),
            "payment_intent": lambda: v1.payment_intents.retrieve(provider_ref),
            "charge": lambda: v1.charges.retrieve(provider_ref),
            "refund": lambda: v1.refunds.retrieve(provider_ref),
            "dispute": lambda: v1.disputes.retrieve(provider_ref),
        }
        with errors_translated():
            body = retrieve[kind]().to_dict()
        return ProviderObject(kind=kind, body=body)

    def movements(self, *, since: datetime, until: datetime) -> Iterator[Movement]:
        params: Any = {
            "created": {"gte": int(since.timestamp()), "lt": int(until.timestamp())},
            "expand": ["data.source"],
            "limit": LARGEST_PAGE,
        }
        with errors_translated():
            page = self.client.v1.balance_transactions.list(params)
            for row in page.auto_paging_iter():
                yield movement_of(row.to_dict())


def movement_of(row: dict[str, Any]) -> Movement:
    """
    Read a balance transaction whose source is written out.
    """
    source = row["source"] or {}
    currency = row["currency"].upper()
    return Movement(
        ref=row["id"],
        kind=row["reporting_category"],
        category=CATEGORIES.get(row["reporting_category"], Category.OTHER),
        source=source.get("id", ""),
        payment_id=source.get("payment_intent") or "",
        amount=from_minor(row["amount"], currency),
        fee=from_minor(row["fee"], currency),
        happened_at=datetime.fromtimestamp(row["created"], tz=UTC),
    )


@contextmanager
def errors_translated() -> Iterator[None]:
    """
    Turn the SDK's errors into the port's.

    :raises CardDeclined: if the bank refused
    :raises NotAtProvider: if Stripe knows nothing of this name
    :raises OutcomeUnknown: if it is not known whether Stripe did it
    :raises GatewayError: if Stripe refused
    """
    try:
        yield
    except stripe.CardError as error:
        message = error.user_message or _("The card was declined.")
        raise CardDeclined(message) from error
    except UNCLEAR as error:
        logger.warning("Stripe gave no answer: %s", type(error).__name__)
        raise OutcomeUnknown from error
    except stripe.StripeError as error:
        if error.http_status == HTTPStatus.NOT_FOUND:
            raise NotAtProvider(
                _("The payment provider does not know this.")
            ) from error
        logger.exception("Stripe refused")
        raise GatewayError(
            _("The payment provider refused this. Please write to support.")
        ) from error
