from datetime import timedelta

from billing.services import bill_due, charges_of
from tests.billing.conftest import NOON, usd


def test_bills_full_hours(run_meter):
    meter = run_meter()

    run = bill_due(at=NOON + timedelta(hours=2, minutes=30))

    assert run.charges == 2
    assert run.amount_by_currency == {"USD": usd(2)}
    assert run.failures == []
    assert [c.amount for c in charges_of(hold_id=meter.hold_id)] == [usd(1), usd(1)]
