"""
What the provider says now decides, whoever asked: an event, or the janitor.

An event can be old, out of order or wrong by the time it is read. It only names an
object; that object is fetched, and its state is acted on here.
"""

from collections.abc import Callable
from datetime import datetime

from billing.gateway import ProviderObject
from billing.services import disputes, payments, refunds

BY_KIND: dict[str, Callable[..., None]] = {
    "charge": refunds.charge_refunded,
    "dispute": disputes.dispute_reported,
    "refund": refunds.refund_reported,
}
# The other statuses are still open: there is nothing to do yet.
BY_STATUS: dict[tuple[str, str], Callable[..., None]] = {
    ("checkout.session", "complete"): payments.session_completed,
    ("checkout.session", "expired"): payments.session_expired,
    ("payment_intent", "succeeded"): payments.payment_succeeded,
    ("payment_intent", "requires_payment_method"): payments.payment_failed,
    ("payment_intent", "canceled"): payments.payment_failed,
}


def act_on(found: ProviderObject, *, provider: str, at: datetime) -> None:
    """
    Bring the books in line with a fetched object; again changes nothing.

    It takes part in the caller's transaction.

    :raises billing.services.payments.NeedsPerson: if it does not fit what is known
    :raises billing.services.payments.TooEarly: if what it follows from is not known yet
    """
    report = BY_KIND.get(found.kind) or BY_STATUS.get(
        (found.kind, str(found.body["status"]))
    )
    if report is not None:
        report(found.body, provider=provider, at=at)
