from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

import pytest

from billing.metering import amount_for, whole_hour
from tests.billing.conftest import HOUR


@pytest.mark.parametrize(
    ("rate", "units", "seconds", "period", "amount"),
    [
        ("0.0049", 1, 24 * HOUR, HOUR, "0.12"),  # 0.1176
        ("0.3333", 1, 720 * HOUR, HOUR, "239.98"),  # 239.976
        pytest.param("2.49", 1, 47 * 60, HOUR, "1.95", id="M49"),  # 1.9505
        pytest.param("3.60", 1, 120, HOUR, "0.12", id="M49-two-minutes"),
        ("0.34", 1, 8 * HOUR, HOUR, "2.72"),
        ("0.34", 1, 40 * HOUR, HOUR, "13.60"),
        ("0.34", 1, 120 * HOUR, HOUR, "40.80"),
        ("0.01", 1, HOUR // 2, HOUR, "0.01"),  # exactly half a cent
        ("0.01", 1, HOUR // 2 - 1, HOUR, "0.00"),
        ("2.69", 8, 0, HOUR, "0.00"),
        # 200 GB for a month of 730 h at 0.07
        ("0.07", 200, 730 * HOUR, 730 * HOUR, "14.00"),
        # A hair under half a cent is not half a cent.
        ("0.000001", "4999.999", HOUR, HOUR, "0.00"),
        ("0.000001", "5000", HOUR, HOUR, "0.01"),
    ],
)
def test_amount_is_rounded_once_half_up(rate, units, seconds, period, amount):
    assert amount_for(
        rate=Decimal(rate), units=Decimal(units), seconds=seconds, period_seconds=period
    ) == Decimal(amount)


@pytest.mark.parametrize(
    ("at", "hour"),
    [
        (datetime(2026, 6, 1, 12, 59, 59, 999999, UTC), 12),
        (datetime(2026, 6, 1, 13, tzinfo=UTC), 13),
        # 17:45 in Kathmandu, five hours and three quarters ahead, is noon.
        (
            datetime(
                2026, 6, 1, 18, 44, 59, tzinfo=timezone(timedelta(hours=5, minutes=45))
            ),
            12,
        ),
    ],
)
def test_hours_are_hours_of_utc(at, hour):
    assert whole_hour(at) == datetime(2026, 6, 1, hour, tzinfo=UTC)
