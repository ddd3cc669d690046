"""
Provider events: stored before they are answered, acted on once, retried until done.

An event only wakes up: the object that it names is fetched from the provider, outside
any transaction, and that decides. Storing and acting are two transactions. What cannot
be done yet is parked and tried again, later each time; what does not fit waits for a
person; nothing is dropped.
"""

import json
import logging
from datetime import datetime, timedelta

from django.db import transaction

from billing import gateways
from billing.gateway import NotAtProvider, OutcomeUnknown, ProviderObject
from billing.ledger import retry_conflicts
from billing.models import ProviderEvent
from billing.services.payments import NeedsPerson, TooEarly
from billing.services.reports import act_on

logger = logging.getLogger(__name__)
State = ProviderEvent.State

# As long as Stripe itself goes on sending.
GIVES_UP_AFTER = timedelta(days=3)
LONGEST_WAIT_SECONDS = 3600
EVENTS_A_RUN = 100

# What kind of object an event of each type is about.
OBJECTS = {
    "checkout.session.completed": "checkout.session",
    "checkout.session.async_payment_succeeded": "checkout.session",
    "checkout.session.async_payment_failed": "checkout.session",
    "checkout.session.expired": "checkout.session",
    "payment_intent.succeeded": "payment_intent",
    "payment_intent.payment_failed": "payment_intent",
    "refund.created": "refund",
    "refund.updated": "refund",
    "refund.failed": "refund",
    "charge.refunded": "charge",
    "charge.dispute.created": "dispute",
    "charge.dispute.updated": "dispute",
    "charge.dispute.funds_withdrawn": "dispute",
    "charge.dispute.funds_reinstated": "dispute",
    "charge.dispute.closed": "dispute",
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
        _act(event_id, _fetch(event_id), at=at)
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


def _fetch(event_id: int) -> ProviderObject | None:
    """
    Return the object that a waiting event names as it is now, or None for a type that
    nothing follows from.

    :raises NeedsPerson: if there is no such object, or it is of the other mode
    :raises TooEarly: if the provider did not answer
    """
    event = ProviderEvent.objects.get(pk=event_id)
    kind = OBJECTS.get(event.type)
    if kind is None or event.state not in ProviderEvent.WAITING:
        return None
    content = json.loads(event.body)
    gateway = gateways.by_name(event.provider)
    # A test payment is not money, and a real one is not a test.
    if content.get("livemode") is not gateway.is_live:
        raise NeedsPerson("The event is of the other mode: test or live.")
    provider_ref = str(content["data"]["object"]["id"])
    try:
        return gateway.fetch(kind=kind, provider_ref=provider_ref)
    except NotAtProvider:
        raise NeedsPerson(f"The provider knows no {kind} {provider_ref}.") from None
    except OutcomeUnknown:
        raise TooEarly("The provider did not answer.") from None


@retry_conflicts
@transaction.atomic
def _act(event_id: int, found: ProviderObject | None, *, at: datetime) -> None:
    event = ProviderEvent.objects.select_for_update().get(pk=event_id)
    if event.state not in ProviderEvent.WAITING:
        return
    if found is None:
        _finish(event, State.IGNORED, at=at)
        return
    act_on(found, provider=event.provider, at=at)
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
