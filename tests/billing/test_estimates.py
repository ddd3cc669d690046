"""
Whatever is asked for, the hours add up to the one rounded amount: no drift, no gap.
"""

from datetime import timedelta
from decimal import Decimal

import pytest
from djmoney.money import Money
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from billing.metering import amount_for
from billing.models import Charge, Hold, Transfer
from billing.services import bill_due, place_hold, start_meter, stop_meter
from tests.billing.conftest import NOON, SUPPLIER, make_wallet, pay

RATES = st.decimals("0.000001", "40", places=6)
UNITS = st.decimals("0.001", "64", places=3)
PERIODS = st.sampled_from([3600, 730 * 3600])
MONTH_SECONDS = 31 * 24 * 3600


def hold_of_new_money(amount):
    wallet = make_wallet(currency=amount.currency.code)
    name = f"w:{Hold.objects.count()}"
    pay(wallet, amount.amount, key=name)
    return place_hold(
        user_id=wallet.user_id, amount=amount, reference=name, key=name, at=NOON
    )


@pytest.mark.django_db
@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_hours_add_up_to_the_estimate(data):
    rate, units, period = data.draw(st.tuples(RATES, UNITS, PERIODS))
    currency = data.draw(st.sampled_from(["USD", "EUR", "GBP"]))
    fee_rate = data.draw(st.decimals(0, 1, places=4))
    begin = NOON + timedelta(seconds=data.draw(st.integers(0, 7200)))
    planned = data.draw(st.integers(1, 40 * 3600))
    used = data.draw(st.integers(0, planned + 3600))
    ticks = data.draw(st.lists(st.integers(0, 40 * 3600), max_size=4))
    terms = {"units": units, "period_seconds": period}
    estimate = amount_for(rate=rate, seconds=planned, **terms)
    # The hold has a cent more, because nothing cannot be held.
    hold = hold_of_new_money(Money(estimate + Decimal("0.01"), currency))
    meter = start_meter(
        hold_id=hold.id,
        name="compute",
        rate=Money(rate, currency),
        payee=SUPPLIER,
        fee_rate=fee_rate,
        started_at=begin,
        ends_at=begin + timedelta(seconds=planned),
        key=hold.reference,
        **terms,
    )

    stop = begin + timedelta(seconds=used)
    for tick in ticks:
        bill_due(at=min(begin + timedelta(seconds=tick), stop))
    stopped = stop_meter(meter_id=meter.id, at=stop)

    seconds = min(used, planned)
    amount = amount_for(rate=rate, seconds=seconds, **terms)
    assert stopped.billed_amount.amount == amount
    charges = Charge.objects.filter(meter_id=meter.id)
    assert sum(charge.seconds for charge in charges) == seconds
    assert sum(charge.amount.amount for charge in charges) == amount
    moved = Transfer.objects.filter(reference=hold.reference)
    usage = moved.filter(kind__in=["USAGE", "USAGE_FEE"])
    assert sum(row.amount.amount for row in usage) == amount


@settings(max_examples=300, deadline=None)
@given(
    rate=RATES,
    units=UNITS,
    period=PERIODS,
    seconds=st.integers(0, MONTH_SECONDS),
    more=st.integers(0, MONTH_SECONDS),
)
def test_more_time_never_costs_less(rate, units, period, seconds, more):
    terms = {"rate": rate, "units": units, "period_seconds": period}

    assert amount_for(seconds=seconds + more, **terms) >= amount_for(
        seconds=seconds, **terms
    )
