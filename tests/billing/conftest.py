"""
Money with fixed meanings: one customer, one wallet in dollars, one noon.
"""

from datetime import UTC, datetime
from decimal import Decimal
from itertools import count

import pytest
from django.contrib.auth import get_user_model
from django.db import transaction
from djmoney.money import Money

from billing import ledger
from billing.models import Account, TopUp, Transfer, Wallet
from billing.services import check_books, open_wallet, place_hold, start_meter
from tests.billing.top_up_steps import FILLED, confirm_url
from tests.billing.top_up_steps import URL as TOP_UP

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
HOUR = 3600
DAY = 24 * HOUR
SUPPLIER = "supplier:everxcloud"


def usd(amount):
    return Money(Decimal(str(amount)), "USD")


def make_wallet(email="renter@example.com", currency="USD"):
    user, _ = get_user_model().objects.get_or_create(email=email)
    open_wallet(user_id=user.pk, currency=currency)
    return Wallet.objects.get(user=user, currency=currency)


@transaction.atomic
def pay(wallet, amount, *, key, at=NOON):
    """
    Post a payment of `amount` into the wallet, as the payments do.
    """
    clearing = ledger.open_account(Account.Kind.CLEARING, wallet.currency, "sandbox")
    ledger.lock_accounts([clearing, wallet.available_id])
    money = Money(Decimal(amount), wallet.currency)
    entry = ledger.Entry(clearing, wallet.available, money, Transfer.Kind.TOP_UP, "net")
    ledger.post([entry], key=key, at=at)


def balance(account_id):
    return Account.objects.get(pk=account_id).balance.amount


def balance_of(kind, party="", currency="USD"):
    account = Account.objects.filter(kind=kind, party=party, currency=currency).first()
    return account.balance.amount if account else Decimal(0)


@pytest.fixture
def wallet(db):
    return make_wallet()


@pytest.fixture
def pay_in(wallet):
    numbers = count(1)

    def pay_into(amount, wallet=wallet, at=NOON):
        pay(wallet, amount, key=f"test-payment:{wallet.pk}:{next(numbers)}", at=at)

    return pay_into


@pytest.fixture
def hold(wallet, pay_in):
    """
    100.00 of 100.00 dollars set aside.
    """
    pay_in("100")
    return place_hold(
        user_id=wallet.user_id,
        amount=usd(100),
        reference="workspace:1",
        key="workspace:1",
        at=NOON,
    )


@pytest.fixture
def run_meter(hold):
    """
    Start a meter of the hold, by default at one dollar an hour for two days.
    """
    numbers = count(1)

    def start(**changes):
        terms = {
            "hold_id": hold.id,
            "name": f"compute {next(numbers)}",
            "rate": usd(1),
            "units": Decimal(1),
            "period_seconds": HOUR,
            "payee": SUPPLIER,
            "fee_rate": Decimal("0.1"),
            "started_at": NOON,
            "ends_at": NOON.replace(day=3),
        }
        terms |= changes
        terms.setdefault("key", f"{terms['hold_id']}:{terms['name']}")
        return start_meter(**terms)

    return start


@pytest.fixture(autouse=True)
def books(request):
    """
    Check the books after every test that had a database.
    """
    marked = request.node.get_closest_marker("django_db") is not None
    has_database = marked or {"db", "transactional_db"} & set(request.fixturenames)
    if has_database:
        # Asked for first, the database is taken down last.
        request.getfixturevalue("_django_db_helper")
    yield
    if has_database and "broken_books" not in request.fixturenames:
        assert check_books() == []


@pytest.fixture
def broken_books():
    """
    Spare a test that breaks the books on purpose from being checked.
    """


@pytest.fixture
def eur(renter):
    return Wallet.objects.get(user=renter, currency="EUR")


@pytest.fixture
def draft(renter_client, eur):
    renter_client.post(TOP_UP, FILLED)
    return TopUp.objects.get()


@pytest.fixture
def pending(renter_client, draft):
    renter_client.post(confirm_url(draft))
    return TopUp.objects.get()
