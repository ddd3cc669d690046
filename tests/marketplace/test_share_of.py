"""
What an ask brings its supplier: an hour of a node, and a month of 730.
"""

import pytest
from djmoney.money import Money

from marketplace.suppliers.desk import share_of


@pytest.mark.parametrize(
    ("ask", "gpus", "net", "month"),
    [
        ("1.00", 1, "0.90", "657.00"),
        # 0.035 of 0.35 is rounded half up to 0.04.
        ("0.35", 1, "0.31", "226.30"),
        ("2.95", 8, "21.24", "15505.20"),
    ],
    ids=["R59 one dollar", "R59 rounded with each hour", "R59 eight GPUs"],
)
def test_an_ask_brings(ask, gpus, net, month):
    share = share_of(Money(ask, "USD"), gpus=gpus)

    assert share.net == Money(net, "USD")
    assert share.month == Money(month, "USD")
