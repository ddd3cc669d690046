import logging

from celery import shared_task
from django.conf import settings
from requests import RequestException

import clock
from billing import services
from billing.gateways import deliveries, sandbox
from billing.services import (
    auto_top_ups,
    events,
    invoices,
    janitor,
    payouts,
    profiles,
    rates,
    reconciliation,
)
from billing.services.tick import run_tick

logger = logging.getLogger(__name__)


@shared_task
def bill_due() -> None:
    """
    Do what time alone makes due, as the command of this name does.
    """
    run_tick(at=clock.now())


@shared_task
def run_payouts() -> None:
    """
    Make the week's payouts; every day, so that a missed Monday is made up for.
    """
    payouts.run_payouts(at=clock.now())


@shared_task
def check_books() -> None:
    """
    Tell the log, and whoever watches it, of every rule of the books that is broken.
    """
    for fault in services.check_books():
        logger.critical("Books: %s", fault)


@shared_task
def reconcile_payments() -> None:
    """
    Fetch the providers' own books; `check_books` tells where ours differ.
    """
    reconciliation.reconcile(at=clock.now())


@shared_task
def load_rates() -> None:
    """
    Fetch the day's exchange rates; the demo keeps the set that it ships with.
    """
    if settings.DEMO:
        return
    try:
        rates.fetch_rates()
    except (RequestException, ValueError, rates.RatesDiffer):
        logger.exception("Could not load the exchange rates")


@shared_task
def process_events() -> None:
    """
    Act on provider events that wait for their next try.
    """
    events.process_due(at=clock.now())


@shared_task
def look_up_payments() -> None:
    """
    Ask the providers after payments that have gone quiet.
    """
    janitor.look_up_payments(at=clock.now())


@shared_task
def top_up_automatically() -> None:
    """
    Charge saved cards for wallets in which too little is available.
    """
    auto_top_ups.run_due(at=clock.now())
    auto_top_ups.describe_cards()


@shared_task
def issue_invoices() -> None:
    """
    Write the invoices and credit notes that are due.
    """
    invoices.issue_due(at=clock.now())


@shared_task
def check_vat_ids() -> None:
    """
    Ask the EU's register about VAT numbers that are not known to be valid.
    """
    profiles.check_vat_ids(at=clock.now())


@shared_task
def run_sandbox() -> None:
    """
    Let the demo's payments settle and send their events.
    """
    if settings.PAYMENT_GATEWAY != "sandbox":
        return
    now = clock.now()
    sandbox.settle_due(at=now)
    deliveries.deliver_due(at=now)
