"""
Faults that people reported of systems like this one, each with its number.

The other numbers are in the names of tests beside what they are about.
"""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.db import transaction
from django.db.models import Sum
from djmoney.money import Money
from post_office.models import Email

import formats
from billing import tax
from billing.models import Account, AutoTopUp, Charge, Dispute, Meter, TopUp, Transfer
from billing.services import (
    bill_due,
    extend_automatically,
    hold_of,
    place_hold,
    set_auto_extend,
    start_meter,
    stop_meter,
)
from billing.services.auto_top_ups import run_due
from money import quantize, to_minor
from tests import money_lookups
from tests.billing import provider
from tests.billing.conftest import (
    HOUR,
    NOON,
    SUPPLIER,
    balance,
    balance_of,
    make_wallet,
    pay,
    usd,
)
from tests.billing.test_auto_top_up import keep_card, order
from tests.billing.top_up_steps import page_text


def test_m9_stale_update_does_not_reopen_what_is_closed(wallet):
    """
    Our suppliers have no account at the provider; what closes there is a dispute.
    """
    top_up = provider.paid(wallet, "20.00")
    closed = provider.dispute(top_up, minor=2000, status="lost")
    provider.tell("charge.dispute.closed", closed)

    provider.tell(
        "charge.dispute.updated", closed | {"status": "under_review"}, at=NOON
    )

    assert Dispute.objects.get().status == "LOST"
    assert balance(wallet.available_id) == 0


def test_m45_local_month_has_each_movement_once(renter_client, renter):
    """
    There is no monthly invoice to be issued twice; the statement has local months.
    """
    renter.time_zone = "Pacific/Auckland"
    renter.save(update_fields=["time_zone"])
    wallet = renter.wallets.get(currency="USD")
    # Midnight in Auckland is 11:00 UTC.
    before = datetime(2026, 10, 31, 10, 30, tzinfo=UTC)
    pay(wallet, "10.00", key="before", at=before)
    pay(wallet, "20.00", key="after", at=before + timedelta(hours=1))

    pages = {
        month: page_text(renter_client.get(f"/wallet/USD/statement/?month={month}"))
        for month in ("2026-10", "2026-11")
    }

    assert "Balance at the end $10.00" in pages["2026-10"]
    assert "Balance at the start $10.00" in pages["2026-11"]
    assert "Balance at the end $30.00" in pages["2026-11"]
    assert [page.count("Top-up ") for page in pages.values()] == [1, 1]


def test_m49c_metering_reported_four_times_is_charged_once(hold, run_meter):
    terms = {
        "name": "compute",
        "key": "compute",
        "rate": usd("0.24"),
        "ends_at": NOON + timedelta(hours=3),
    }
    meters = {run_meter(**terms).id for _ in range(4)}

    for _ in range(4):
        stop_meter(meter_id=next(iter(meters)), at=NOON + timedelta(minutes=130))

    assert len(meters) == 1
    assert hold_of(hold_id=hold.id).captured == usd("0.52")


def test_m51b_end_of_funds_leaves_no_debt(wallet):
    """
    The case has a debt of 0.35 and 4.65 left of a top-up of 5.00. Here a meter cannot
    outrun its hold, so nothing is owed and the 5.00 are all there.
    """
    pay(wallet, "1.00", key="first")
    owner = {"user_id": wallet.user_id, "at": NOON}
    hold = place_hold(amount=usd(1), reference="w:1", key="w:1", **owner)
    meter = start_meter(
        hold_id=hold.id,
        name="compute",
        rate=usd(1),
        units=Decimal(1),
        period_seconds=HOUR,
        payee=SUPPLIER,
        fee_rate=Decimal("0.1"),
        started_at=NOON,
        ends_at=NOON + timedelta(hours=1),
        key="compute",
    )

    bill_due(at=NOON + timedelta(hours=6))

    assert Meter.objects.get(pk=meter.id).stopped_at == NOON + timedelta(hours=1)
    assert balance(wallet.available_id) == balance(wallet.held_id) == 0
    pay(wallet, "5.00", key="second")
    assert balance(wallet.available_id) == Decimal("5.00")
    place_hold(amount=usd(5), reference="w:2", key="w:2", **owner)


@pytest.fixture
def capped(wallet):
    """
    50.00 automatically below 10.00, and 50.00 a month at most.
    """
    provider.quote(wallet)
    keep_card(wallet.user_id)
    return order(wallet, monthly_cap=usd(50))


def drain(wallet):
    """
    Set everything in the wallet aside, so that it needs a top-up.
    """
    free = balance(wallet.available_id)
    name = f"drained:{Transfer.objects.count()}"
    place_hold(
        user_id=wallet.user_id,
        amount=usd(free),
        reference=name,
        key=name,
        at=NOON,
    )


def charges(wallet, at):
    charged = run_due(at=at)
    if charged:
        drain(wallet)
    return charged


def test_m56_month_so_far_leaves_the_last_month_out(wallet, capped):
    november = datetime(2026, 11, 30, 23, 59, 59, tzinfo=UTC)
    december = datetime(2026, 12, 1, 0, 30, tzinfo=UTC)

    assert charges(wallet, november) == 1
    assert charges(wallet, november) == 0
    assert charges(wallet, december) == 1
    assert charges(wallet, december) == 0


def test_m56b_top_up_at_the_first_instant_counts_in_its_month_once(wallet, capped):
    """
    There are no monthly grants; what is reset monthly is the cap.
    """
    reset = datetime(2026, 12, 1, tzinfo=UTC)
    assert charges(wallet, reset - timedelta(seconds=1)) == 1

    assert charges(wallet, reset) == 1
    assert charges(wallet, reset + timedelta(hours=1)) == 0
    for _ in range(3):
        AutoTopUp.objects.update(threshold=20)
        assert charges(wallet, reset + timedelta(hours=2)) == 0

    assert TopUp.objects.filter(kind="AUTO").count() == 2


def test_m60e_amount_is_rounded_before_the_provider_sees_it():
    assert to_minor(quantize(usd("13.9974"))) == 1400
    with pytest.raises(ValueError, match="fraction"):
        to_minor(usd("13.9974"))
    # 11.67 and 19.9433 % would be 13.9974; VAT is on the net, in whole cents.
    taxed = tax.add_vat(usd("11.67"), rate=Decimal("19.9433"))
    assert to_minor(taxed.total) == 1400


def test_m74_rollback_leaves_neither_money_nor_mail(wallet):
    top_up = provider.pending(wallet, "20.00")

    with transaction.atomic():
        provider.tell("checkout.session.completed", provider.session(top_up))
        assert Email.objects.count() == Transfer.objects.count() == 1
        transaction.set_rollback(True)

    assert not Email.objects.exists()
    assert not Transfer.objects.exists()
    assert TopUp.objects.get().status == "PENDING"


def test_m76_chained_filter_keeps_the_currency(wallet, monkeypatch):
    """
    A lookup sees the number of a Money only, so the currency is always asked beside it:
    no query of the project gets past `tests.money_lookups` with a Money.
    """
    euros = make_wallet(currency="EUR")
    pay(wallet, "10.00", key="dollars")
    pay(euros, "10.00", key="euros")

    rich = Account.objects.filter(kind="AVAILABLE").filter(balance__gte=5)

    assert rich.filter(currency="USD").get() == wallet.available
    assert rich.count() == 2
    monkeypatch.setattr(money_lookups, "is_asked_by_a_test", lambda: False)
    with pytest.raises(TypeError, match="number and the currency"):
        rich.filter(balance__gte=usd(5))


def test_m78_arithmetic_keeps_the_places_of_a_rate(run_meter):
    rate = Meter.objects.get(pk=run_meter(rate=usd("0.0049")).id).rate

    assert (-rate).amount == Decimal("-0.0049")
    assert (rate * 1).amount == Decimal("0.0049")
    assert formats.rate(rate, "en") == "$0.0049"
    assert formats.money(Money("1.23", "EUR") * 1, "en") == "€1.23"


def test_m79_database_adds_and_keeps_every_cent(wallet):
    for number, amount in enumerate(["0.10", "0.20", "0.30", "90071992547409.93"]):
        pay(wallet, amount, key=f"pay-{number}")

    small = Transfer.objects.filter(amount__lt=1).aggregate(sum=Sum("amount"))
    assert small["sum"] == Decimal("0.60")
    assert balance(wallet.available_id) == Decimal("90071992547410.53")
    assert Transfer.objects.latest("pk").amount.amount == Decimal("90071992547409.93")


def test_m84_payment_of_the_last_second_is_seen_at_the_end(wallet):
    """
    There is no debt to remind of; what comes at 12:00 is the end of the funds.
    """
    pay(wallet, "1.00", key="first")
    hold = place_hold(
        user_id=wallet.user_id, amount=usd(1), reference="w:1", key="w:1", at=NOON
    )
    start_meter(
        hold_id=hold.id,
        name="compute",
        rate=usd(1),
        units=Decimal(1),
        period_seconds=HOUR,
        payee=SUPPLIER,
        fee_rate=Decimal(0),
        started_at=NOON,
        ends_at=NOON + timedelta(hours=1),
        key="compute",
    )
    set_auto_extend(hold_id=hold.id, is_on=True)
    end = NOON + timedelta(hours=1)
    pay(wallet, "1.00", key="second", at=end - timedelta(seconds=1))

    extend_automatically(at=end)
    bill_due(at=end)

    assert Meter.objects.get().stopped_at is None
    assert Charge.objects.count() == 1
    assert balance_of("PAYABLE", SUPPLIER) == Decimal("1.00")
