"""
Provider events: stored before they are answered, acted on once, retried until done.

Storing and acting are two transactions. What cannot be done yet is parked and tried
again, later each time; what does not fit waits for a person; nothing is dropped.
"""

import json
import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from billing import gateways
from billing.ledger import retry_conflicts
from billing.models import ProviderEvent
from billing.services import disputes, payments, refunds
from billing.services.payments import NeedsPerson, TooEarly

logger = logging.getLogger(__name__)
State = ProviderEvent.State

# As long as Stripe itself goes on sending.
GIVES_UP_AFTER = timedelta(days=3)
LONGEST_WAIT_SECONDS = 3600
EVENTS_A_RUN = 100

HANDLERS: dict[str, Callable[..., None]] = {
    "checkout.session.completed": payments.session_completed,
    "checkout.session.async_payment_succeeded": payments.session_completed,
    "checkout.session.async_payment_failed": payments.session_failed,
    "checkout.session.expired": payments.session_expired,
    "payment_intent.succeeded": payments.payment_succeeded,
    "payment_intent.payment_failed": payments.payment_failed,
    "refund.created": refunds.refund_reported,
    "refund.updated": refunds.refund_reported,
    "refund.failed": refunds.refund_reported,
    "charge.refunded": refunds.charge_refunded,
    "charge.dispute.created": disputes.dispute_reported,
    "charge.dispute.updated": disputes.dispute_reported,
    "charge.dispute.funds_withdrawn": disputes.dispute_reported,
    "charge.dispute.funds_reinstated": disputes.dispute_reported,
    "charge.dispute.closed": disputes.dispute_reported,
}


def store_event(
    *, provider: str, body: str, event_id: str, kind: str, at: datetime
) -> ProviderEvent:
    """
    Store an event whose signature is right, or find it stored already.
    """
    # Two deliveries at once: the second finds the row of the first, without an error.
    ProviderEvent.objects.bulk_create(
        [
            ProviderEvent(
                provider=provider,
                event_id=event_id,
                type=kind,
                body=body,
                received_at=at,
                next_try_at=at,
            )
        ],
        ignore_conflicts=True,
    )
    return ProviderEvent.objects.get(provider=provider, event_id=event_id)


def process_event(*, event_id: int, at: datetime) -> bool:
    """
    Act on a stored event unless that is done, and return whether it could be.

    An error is logged and noted on the event, which is then tried again.
    """
    try:
        _act(event_id, at=at)
    except NeedsPerson as error:
        logger.error("A provider event needs a person: %s", event_id)  # noqa: TRY400
        _close(event_id, State.QUARANTINED, note=str(error), at=at)
    except TooEarly as error:
        _retry_later(event_id, State.PARKED, note=str(error), at=at)
    except Exception as error:
        # Whatever went wrong, the event is kept and the next one gets its turn.
        logger.exception("Could not act on a provider event")
        _retry_later(event_id, State.RECEIVED, note=repr(error), at=at)
        return False
    return True


def process_due(*, at: datetime) -> int:
    """
    Act on the events that wait for their next try and return their number.
    """
    due = ProviderEvent.objects.due(at).order_by("next_try_at", "pk")
    ids = list(due.values_list("pk", flat=True)[:EVENTS_A_RUN])
    for event_id in ids:
        process_event(event_id=event_id, at=at)
    return len(ids)


@retry_conflicts
@transaction.atomic
def _act(event_id: int, *, at: datetime) -> None:
    event = ProviderEvent.objects.select_for_update().get(pk=event_id)
    if event.state not in ProviderEvent.WAITING:
        return
    content: dict[str, Any] = json.loads(event.body)
    handler = HANDLERS.get(event.type)
    if handler is None:
        _finish(event, State.IGNORED, at=at)
        return
    # A test payment is not money, and a real one is not a test.
    if content.get("livemode") is not gateways.by_name(event.provider).is_live:
        raise NeedsPerson("The event is of the other mode: test or live.")
    handler(content["data"]["object"], provider=event.provider, at=at)
    _finish(event, State.DONE, at=at)


def _finish(event: ProviderEvent, state: State, *, at: datetime) -> None:
    event.state = state
    event.note = ""
    event.processed_at = at
    event.save(update_fields=["state", "note", "processed_at"])


def _close(event_id: int, state: State, *, note: str, at: datetime) -> None:
    waiting = ProviderEvent.objects.filter(pk=event_id, state__in=ProviderEvent.WAITING)
    waiting.update(state=state, note=note[:500], processed_at=at)


def _retry_later(event_id: int, state: State, *, note: str, at: datetime) -> None:
    event = ProviderEvent.objects.get(pk=event_id)
    if at - event.received_at > GIVES_UP_AFTER:
        _close(event_id, State.QUARANTINED, note=f"Gave up: {note}", at=at)
        return
    wait = timedelta(seconds=min(2 ** min(event.tries, 20), LONGEST_WAIT_SECONDS))
    waiting = ProviderEvent.objects.filter(pk=event_id, state__in=ProviderEvent.WAITING)
    waiting.update(
        state=state, note=note[:500], tries=event.tries + 1, next_try_at=at + wait
    )
