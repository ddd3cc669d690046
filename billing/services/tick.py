from datetime import datetime

from billing.services.ends import extend_automatically, warn_of_ends
from billing.services.holds import expire_holds
from billing.ticks import BillingRun, bill_due


def run_tick(*, at: datetime) -> BillingRun:
    """
    Do everything that time alone makes due, and return what was billed.

    First lets run on what is extended automatically, so that a payment of the last
    second counts; then bills the hours that are full; then gives back holds that
    nobody used in time and notes who is to be warned of an end.
    """
    extend_automatically(at=at)
    run = bill_due(at=at)
    expire_holds(at=at)
    warn_of_ends(at=at)
    return run
