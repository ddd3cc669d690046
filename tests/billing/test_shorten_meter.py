from datetime import timedelta
from decimal import Decimal

import pytest

from billing.services import (
    HoldInUse,
    MeterEnded,
    bill_due,
    meter_of,
    release_hold,
    shorten_meter,
    stop_meter,
)
from tests.billing.conftest import NOON, usd

HOURS = timedelta(hours=1)


def test_frees_what_the_meter_needs_no_more(run_meter, hold):
    # 36 h at 1.00 of the 100.00 are needed until the third of June.
    meter = run_meter()
    with pytest.raises(HoldInUse):
        release_hold(hold_id=hold.id, amount=usd(90), key="early", at=NOON)

    shorter = shorten_meter(meter_id=meter.id, ends_at=NOON + 10 * HOURS)

    assert shorter.ends_at == NOON + 10 * HOURS
    given = release_hold(hold_id=hold.id, amount=usd(90), key="late", at=NOON)
    assert given.remaining == usd(10)
    bill_due(at=NOON + 20 * HOURS)
    assert meter_of(meter_id=meter.id).billed_amount == usd(10)


def test_the_same_end_changes_nothing_even_after_it(run_meter):
    meter = run_meter(ends_at=NOON + HOURS)
    bill_due(at=NOON + 2 * HOURS)

    same = shorten_meter(meter_id=meter.id, ends_at=NOON + HOURS)

    assert same.stopped_at == NOON + HOURS
    assert same.billed_amount.amount == Decimal(1)


@pytest.mark.parametrize("hours", [37 * 24, 1])
def test_refuses_to_lengthen_and_to_undo_what_is_billed(run_meter, hours):
    meter = run_meter()
    bill_due(at=NOON + 2 * HOURS)

    with pytest.raises(ValueError, match="not billed yet"):
        shorten_meter(meter_id=meter.id, ends_at=NOON + hours * HOURS)

    assert meter_of(meter_id=meter.id).ends_at == meter.ends_at


def test_refuses_a_meter_that_was_stopped(run_meter):
    meter = run_meter()
    stop_meter(meter_id=meter.id, at=NOON + HOURS)

    with pytest.raises(MeterEnded):
        shorten_meter(meter_id=meter.id, ends_at=NOON + 2 * HOURS)
