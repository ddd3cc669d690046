"""
Money for the demo's people, the way everybody's money comes in.
"""

import json
from collections.abc import Iterable
from datetime import datetime

from djmoney.money import Money

from billing.gateways import sandbox
from billing.models import SandboxDelivery, SandboxPayment
from billing.services.events import process_event, store_event
from billing.services.profiles import save_profile
from billing.services.top_ups import confirm_top_up, start_top_up


def top_up_in_sandbox(*, user_id: int, email: str, net: Money, at: datetime) -> None:
    """
    Pay a top-up on the sandbox's page, and take its events without waiting for them.
    """
    save_profile(user_id=user_id, country="US")
    top_up = start_top_up(user_id=user_id, net=net, email=email, language="en", at=at)
    top_up = confirm_top_up(top_up_id=top_up.pk, at=at)
    reference = top_up.provider_ref.removeprefix("cs_test_")
    payment = SandboxPayment.objects.get(reference=reference)
    sandbox.pay(reference=reference, at=at)
    take_events(payment.deliveries.order_by("pk"), at=at)


def take_events(deliveries: Iterable[SandboxDelivery], *, at: datetime) -> None:
    """
    Act on events of the sandbox as if they had been delivered.

    They are delivered again as always, which changes nothing.
    """
    for delivery in deliveries:
        event = store_event(
            provider="sandbox",
            body=delivery.body,
            event_id=delivery.event_id,
            kind=json.loads(delivery.body)["type"],
            at=at,
        )
        process_event(event_id=event.pk, at=at)
