"""
Tells people once for each return of a GPU that they miss.
"""

from datetime import datetime, timedelta
from uuid import UUID

from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.utils.translation import gettext as _

from catalog.models import Offer, StockAlert

MOST_ALERTS = 20
# Stock that comes and goes all day is one piece of news.
PAUSE = timedelta(hours=24)


class InStock(Exception):
    """
    There is nothing to wait for.
    """

    def __init__(self) -> None:
        super().__init__(_("This GPU can be reserved there now: no need to wait."))


class TooManyAlerts(Exception):
    """
    A person has as many alerts as one can have.
    """

    def __init__(self) -> None:
        super().__init__(
            _("You have %(count)s alerts, which is the most. Stop one of them first.")
            % {"count": MOST_ALERTS}
        )


@transaction.atomic
def ask_for_alert(
    *, user_id: int, gpu_id: int, region_id: int, at: datetime
) -> StockAlert:
    """
    Note that a person wants to know when the GPU can be reserved again in the region.

    Asking again changes nothing.

    :raises InStock: if it can be reserved now
    :raises TooManyAlerts: if the person has twenty others
    """
    # One after the other, or two clicks could pass the limit together.
    get_user_model()._default_manager.select_for_update(no_key=True).get(pk=user_id)
    place = {"gpu_id": gpu_id, "region_id": region_id}
    if Offer.objects.live(at).filter(**place).exists():
        raise InStock
    own = StockAlert.objects.filter(user=user_id)
    if own.exclude(**place).count() >= MOST_ALERTS:
        raise TooManyAlerts
    alert, _is_new = StockAlert.objects.get_or_create(
        user_id=user_id, **place, defaults={"asked_at": at}
    )
    return alert


def stop_alert(*, alert_id: UUID) -> bool:
    """
    Forget an alert and say whether there was one.
    """
    deleted, _by_model = StockAlert.objects.filter(pk=alert_id).delete()
    return bool(deleted)


@transaction.atomic
def take_returns(*, at: datetime) -> list[StockAlert]:
    """
    Return the alerts whose GPU is back, each once for each return.

    What is gone again is armed again. A second return within a day waits for the end
    of that day, and is then only told if it still holds. Alerts that another worker
    is at are left to it.
    """
    live = Offer.objects.live(at).filter(
        gpu=OuterRef("gpu_id"), region=OuterRef("region_id")
    )
    StockAlert.objects.filter(~Exists(live), is_armed=False).update(is_armed=True)
    due = StockAlert.objects.filter(
        Exists(live),
        Q(sent_at__isnull=True) | Q(sent_at__lte=at - PAUSE),
        is_armed=True,
        user__is_active=True,
    )
    locked = due.select_for_update(of=["self"], skip_locked=True).order_by("asked_at")
    alerts = list(locked.select_related("user", "gpu", "region"))
    taken = StockAlert.objects.filter(pk__in=[alert.pk for alert in alerts])
    taken.update(is_armed=False, sent_at=at)
    return alerts
