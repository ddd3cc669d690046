"""
What runs costs an hour, and how long what is available would last at that.
"""

from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal

from django.db.models import DecimalField, ExpressionWrapper, F, Sum
from djmoney.money import Money

from billing.models import Meter
from billing.services.freezes import FrozenWallet, frozen_among
from billing.services.wallets import WalletBalance, wallets_of
from money import round_half_up

HOUR_SECONDS = 3600
RATE_PLACES = 6


@dataclass(frozen=True, kw_only=True)
class WalletStanding:
    """
    A wallet with what its meters cost an hour; `lasts` is empty while nothing runs,
    `frozen` as long as the wallet is free.
    """

    balance: WalletBalance
    burn: Money
    lasts: timedelta | None
    frozen: FrozenWallet | None


def standings_of(*, user_id: int) -> list[WalletStanding]:
    """
    Return how each wallet of the user stands.
    """
    hourly = ExpressionWrapper(
        F("rate") * F("units") * HOUR_SECONDS / F("period_seconds"),
        output_field=DecimalField(),
    )
    running = Meter.objects.filter(hold__wallet__user_id=user_id, stopped_at=None)
    rows = running.values("currency").annotate(burn=Sum(hourly))
    burns = {row["currency"]: round_half_up(row["burn"], RATE_PLACES) for row in rows}
    wallets = wallets_of(user_id=user_id)
    frozen = frozen_among(wallets)
    return [
        _standing(
            balance,
            burns.get(balance.currency, Decimal(0)),
            frozen.get(balance.id),
        )
        for balance in wallets
    ]


def _standing(
    balance: WalletBalance, burn: Decimal, frozen: FrozenWallet | None
) -> WalletStanding:
    lasts = None
    if burn:
        hours = max(balance.available.amount, Decimal(0)) / burn
        lasts = timedelta(seconds=int(hours * HOUR_SECONDS))
    return WalletStanding(
        balance=balance,
        burn=Money(burn, balance.currency),
        lasts=lasts,
        frozen=frozen,
    )
