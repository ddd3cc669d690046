"""
What became of payments whose answer or event never came: ask the provider.

Every question is asked under the key of the first one, outside transactions, and its
answer goes through the same functions as an event, so that asking changes nothing that
an event has changed already.
"""

import logging
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q

from billing import gateways
from billing.gateway import GatewayError, ProviderObject
from billing.ledger import retry_conflicts
from billing.models import Refund, TopUp
from billing.models.payments import TopUpQuerySet
from billing.services import auto_top_ups, payments, refunds, top_ups
from billing.services.reports import act_on

logger = logging.getLogger(__name__)
Status = TopUp.Status

ANSWER_IS_LATE_AFTER = timedelta(minutes=1)
EVENT_IS_LATE_AFTER = timedelta(minutes=10)
QUOTES_ARE_KEPT = timedelta(days=1)
ROWS_A_RUN = 50


def look_up_payments(*, at: datetime) -> int:
    """
    Ask after everything that is late, drop old quotes, and return how many were asked.
    """
    TopUp.objects.filter(
        status=Status.DRAFT, created_at__lt=at - QUOTES_ARE_KEPT
    ).delete()
    return (
        _open_again(at=at)
        + _charge_again(at=at)
        + _fetch_late(at=at)
        + _refund_again(at=at)
    )


def _open_again(*, at: datetime) -> int:
    late = TopUp.objects.filter(
        status__in=[Status.STARTED, Status.UNKNOWN],
        kind=TopUp.Kind.CHECKOUT,
        confirmed_at__lt=at - ANSWER_IS_LATE_AFTER,
    )
    ids = _next_ids(late, at=at, every=ANSWER_IS_LATE_AFTER)
    for top_up_id in ids:
        top_ups.open_checkout(top_up_id=top_up_id)
    return len(ids)


def _charge_again(*, at: datetime) -> int:
    late = TopUp.objects.filter(
        status__in=[Status.STARTED, Status.UNKNOWN],
        kind=TopUp.Kind.AUTO,
        confirmed_at__lt=at - ANSWER_IS_LATE_AFTER,
    )
    ids = _next_ids(late, at=at, every=ANSWER_IS_LATE_AFTER)
    for top_up_id in ids:
        auto_top_ups.charge(top_up_id=top_up_id, at=at)
    return len(ids)


def _fetch_late(*, at: datetime) -> int:
    late = TopUp.objects.filter(
        status__in=[Status.PENDING, Status.PROCESSING],
        confirmed_at__lt=at - EVENT_IS_LATE_AFTER,
    )
    ids = _next_ids(late, at=at, every=EVENT_IS_LATE_AFTER)
    for top_up_id in ids:
        _fetch(top_up_id, at=at)
    return len(ids)


def _fetch(top_up_id: int, *, at: datetime) -> None:
    top_up = TopUp.objects.get(pk=top_up_id)
    is_card = top_up.kind == TopUp.Kind.AUTO
    try:
        found = gateways.by_name(top_up.provider).fetch(
            kind="payment_intent" if is_card else "checkout.session",
            provider_ref=top_up.provider_ref,
        )
        _apply(found, provider=top_up.provider, at=at)
    except GatewayError:
        logger.warning("The provider could not be asked after a top-up")
    except payments.NeedsPerson:
        logger.exception("A top-up needs a person")


@retry_conflicts
@transaction.atomic
def _apply(found: ProviderObject, *, provider: str, at: datetime) -> None:
    act_on(found, provider=provider, at=at)


def _refund_again(*, at: datetime) -> int:
    late = Refund.objects.filter(
        status=Refund.Status.STARTED, created_at__lt=at - ANSWER_IS_LATE_AFTER
    )
    ids = list(late.order_by("pk").values_list("pk", flat=True)[:ROWS_A_RUN])
    for refund_id in ids:
        refunds.ask_provider(refund_id=refund_id, at=at)
    return len(ids)


def _next_ids(late: TopUpQuerySet, *, at: datetime, every: timedelta) -> list[int]:
    """
    Take the rows that were not asked after lately, and note that they are now.
    """
    due = late.filter(Q(asked_at=None) | Q(asked_at__lt=at - every))
    ids = list(due.order_by("confirmed_at").values_list("pk", flat=True)[:ROWS_A_RUN])
    TopUp.objects.filter(pk__in=ids).update(asked_at=at)
    return ids
