"""
The mails that a GPU is back: rows of the outbox, written as the alerts are taken.
"""

from datetime import datetime

from django.conf import settings
from django.db import transaction
from django.urls import reverse
from django.utils import translation

from billing.mails import queue_mail
from catalog import services as catalog
from catalog.best_asks import best_asks
from catalog.models import StockAlert
from marketplace import outbox


@transaction.atomic
def send_stock_alerts(*, at: datetime) -> int:
    """
    Queue one mail for each alert whose GPU is back, and return how many.
    """
    alerts = catalog.take_returns(at=at)
    if not alerts:
        return 0
    asks = {
        (gpu_id, ask.region.slug): ask
        for gpu_id, found in best_asks(at=at, gpus=None).items()
        for ask in found
    }
    for alert in alerts:
        stop_url = _stop_url(alert)
        queue_mail(
            "stock_alert",
            to=alert.user.email,
            language=alert.user.language,
            headers={
                "List-Unsubscribe": f"<{stop_url}>",
                "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
            },
            alert=alert,
            ask=asks[alert.gpu_id, alert.region.slug],
            stop_url=stop_url,
        )
    outbox.send_soon()
    return len(alerts)


def _stop_url(alert: StockAlert) -> str:
    with translation.override(alert.user.language):
        path = reverse("catalog:stop_alert", args=[alert.pk])
    return f"{settings.SITE_URL}{path}"
