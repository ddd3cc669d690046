"""
The sandbox's signed requests to the site's webhook: rows first, sent until answered.
"""

import logging
from datetime import datetime, timedelta

import requests
from django.conf import settings
from django.urls import reverse
from django.utils import timezone

from billing.models.sandbox import SandboxDelivery
from billing.signatures import sign

logger = logging.getLogger(__name__)

LEASE = timedelta(seconds=30)
TIMEOUT_SECONDS = (2, 10)
DELIVERIES_A_RUN = 50


def deliver_due(*, at: datetime) -> int:
    """
    Send the events that are due and return how many were taken.

    A row is claimed for half a minute before anything is sent, so that two senders do
    not send it at once; what fails is tried again, later each time.
    """
    due = SandboxDelivery.objects.due(at).order_by("next_try_at", "pk")
    number = 0
    for delivery in due[:DELIVERIES_A_RUN]:
        claimed = SandboxDelivery.objects.due(at).filter(pk=delivery.pk)
        if claimed.update(next_try_at=at + LEASE, tries=delivery.tries + 1):
            delivery.tries += 1
            _deliver(delivery, at=at)
            number += 1
    return number


def _deliver(delivery: SandboxDelivery, *, at: datetime) -> None:
    body = delivery.body.encode()
    # The receiver compares with its real clock, which the demo's is ahead of.
    signature = sign(body, secret=settings.SANDBOX_WEBHOOK_SECRET, at=timezone.now())
    try:
        response = requests.post(
            f"{settings.SITE_URL}{reverse('webhook', args=['sandbox'])}",
            data=body,
            headers={
                "Content-Type": "application/json; charset=utf-8",
                "Stripe-Signature": signature,
            },
            timeout=TIMEOUT_SECONDS,
            allow_redirects=False,
        )
        delivery.answer = str(response.status_code)
    except requests.RequestException as error:
        delivery.answer = type(error).__name__
    if delivery.answer == "200":
        delivery.delivered_at = at
    else:
        logger.warning("Sandbox event not delivered: %s", delivery.answer)
        delivery.next_try_at = at + timedelta(seconds=min(2**delivery.tries, 3600))
    delivery.save(update_fields=["answer", "delivered_at", "next_try_at"])
