"""
What pages say about the wallet that would pay.
"""

from djmoney.money import Money

from billing import services as billing


def available_in(currency: str, *, user_id: int) -> Money:
    """
    Return what somebody is free to spend in a currency.
    """
    wallets = billing.wallets_of(user_id=user_id)
    return next(
        (wallet.available for wallet in wallets if wallet.currency == currency),
        Money(0, currency),
    )
