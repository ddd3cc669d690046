import pytest
from django.utils import translation

from billing import ledger
from billing.models import Account, Transfer, Wallet
from billing.services import (
    InsufficientFunds,
    NoSuchWallet,
    WalletFrozen,
    open_wallet,
    place_hold,
    wallets_of,
)
from billing.services.wallets import freeze_wallet, unfreeze_wallet
from tests.billing.conftest import NOON, make_wallet, pay, usd


def hold_one(wallet):
    return place_hold(
        user_id=wallet.user_id, amount=usd(1), reference="w:1", key="w:1", at=NOON
    )


def take_back(wallet, amount):
    clearing = ledger.open_account(Account.Kind.CLEARING, "USD", "sandbox")
    ledger.lock_accounts([clearing, wallet.available])
    entry = ledger.Entry(
        wallet.available, clearing, usd(amount), Transfer.Kind.DISPUTE, "net"
    )
    ledger.post([entry], key="dispute", at=NOON)


def test_opens_a_wallet_once(wallet):
    again = open_wallet(user_id=wallet.user_id, currency="USD")

    assert (again.available, again.held, again.is_frozen) == (usd(0), usd(0), False)
    assert Wallet.objects.count() == 1
    assert Account.objects.count() == 2


def test_opens_no_wallet_in_an_unknown_currency(wallet):
    with pytest.raises(ValueError, match="JPY"):
        open_wallet(user_id=wallet.user_id, currency="JPY")

    assert Wallet.objects.count() == 1


def test_m77_wallets_are_never_added_up(wallet, pay_in):
    pay_in("10")
    pay(make_wallet(currency="GBP"), "10", key="pounds")

    balances = wallets_of(user_id=wallet.user_id)

    assert [(b.currency, b.available.amount) for b in balances] == [
        ("USD", 10),
        ("GBP", 10),
    ]


@pytest.mark.parametrize(
    ("language", "message"),
    [
        ("en", "This needs $4.00 and $3.00 is free in your wallet."),
        ("es", "4,00"),
    ],
)
def test_insufficient_funds_says_what_is_missing(wallet, pay_in, language, message):
    pay_in("3")

    with translation.override(language), pytest.raises(InsufficientFunds) as refusal:
        place_hold(
            user_id=wallet.user_id, amount=usd(4), reference="w:1", key="w:1", at=NOON
        )

    assert refusal.value.needed == usd(4)
    assert refusal.value.free == usd(3)
    assert refusal.value.shortfall == usd(1)
    assert message in str(refusal.value)


def test_frozen_wallet_spends_nothing_until_it_is_unfrozen(wallet, pay_in):
    pay_in("10")
    for _ in range(2):
        freeze_wallet(user_id=wallet.user_id, currency="USD", at=NOON)

    with pytest.raises(WalletFrozen):
        hold_one(wallet)
    assert wallets_of(user_id=wallet.user_id)[0].is_frozen

    unfreeze_wallet(user_id=wallet.user_id, currency="USD")
    hold_one(wallet)
    assert wallets_of(user_id=wallet.user_id)[0].held == usd(1)


def test_m23_frozen_wallet_may_owe_and_stays_frozen_until_paid(wallet, pay_in):
    freeze_wallet(user_id=wallet.user_id, currency="USD", at=NOON)
    take_back(wallet, "35")

    with pytest.raises(InsufficientFunds) as refusal:
        unfreeze_wallet(user_id=wallet.user_id, currency="USD")

    assert refusal.value.shortfall == usd(35)
    assert wallets_of(user_id=wallet.user_id)[0].available == usd(-35)
    pay_in("35")
    unfreeze_wallet(user_id=wallet.user_id, currency="USD")
    assert not wallets_of(user_id=wallet.user_id)[0].is_frozen


def test_a_wallet_that_is_missing_is_said_to_be(wallet):
    with pytest.raises(NoSuchWallet, match="EUR"):
        freeze_wallet(user_id=wallet.user_id, currency="EUR", at=NOON)
