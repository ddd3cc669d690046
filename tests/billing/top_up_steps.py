"""
Steps of a top-up that several tests take.
"""

import re

from django.urls import reverse

import clock
from billing.demo import take_events
from billing.models import SandboxPayment, TopUp

URL = "/wallet/top-up/"
FILLED = {"amount": "100.00", "currency": "EUR", "country": "FR"}
BUSINESS = {"is_business": "on", "name": "Ma Société", "address": "1 rue A, Paris"}


def page_text(response):
    text = re.sub(r"<[^>]+>", " ", response.content.decode())
    return " ".join(text.split())


def confirm_url(top_up):
    return reverse("billing:top_up_confirm", args=[top_up.uuid])


def sandbox_url(top_up, name="sandbox_pay"):
    return reverse(
        f"billing:{name}", args=[top_up.provider_ref.removeprefix("cs_test_")]
    )


def hear(top_up):
    """
    Let the site hear every event that the sandbox has to tell.
    """
    take_events(SandboxPayment.objects.get().deliveries.order_by("pk"), at=clock.now())
    return TopUp.objects.get(pk=top_up.pk)
