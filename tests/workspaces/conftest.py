"""
One renter with 100.00 dollars, the catalog as it ships, and one noon.

What is asked for costs 18.33 at most: 40 h of an RTX 4090 at the best ask, 0.33
(13.20), 200 GB at 0.09 a GB-month for 40 h (0.99) and for 7 days afterwards (4.14).
"""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from djmoney.money import Money

from billing.models import Wallet
from billing.services import hold_of, wallets_of
from billing.services.rates import load_rates
from catalog import services as catalog_services
from catalog.models import BaseModel, GpuModel, Image, Offer, StoragePlan
from tests.billing.conftest import books, pay  # noqa: F401
from tests.catalog_copy import put_catalog
from workspaces import services

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
COMMIT = "0123456789abcdef0123456789abcdef01234567"
ADDRESS = "root@10.0.0.7:22022"


def usd(amount):
    return Money(Decimal(amount), "USD")


@pytest.fixture
def catalog(db):
    put_catalog(at=NOON)


@pytest.fixture
def rates(db):
    """
    On the Friday before, one euro was 1.25 dollars and 0.80 pounds.
    """
    load_rates(
        lines=[
            "CURRENCY,CURRENCY_DENOM,TIME_PERIOD,OBS_VALUE",
            "USD,EUR,2026-11-27,1.25",
            "GBP,EUR,2026-11-27,0.80",
        ]
    )


@pytest.fixture
def offer(catalog):
    """
    EverXCloud's RTX 4090 in Frankfurt: 12 nodes at 0.33.
    """
    return Offer.objects.get(supplier__slug="everxcloud", gpu__slug="rtx-4090")


def pay_in(user, amount, *, currency="USD"):
    wallet = Wallet.objects.get(user=user, currency=currency)
    pay(wallet, amount, key=f"test-payment:{user.pk}:{currency}:{amount}", at=NOON)


@pytest.fixture
def rich_renter(renter):
    pay_in(renter, "100")
    return renter


def wanted_on(gpu, **changes):
    facts = {
        "base_model": BaseModel.objects.get(hf_id="meta-llama/Meta-Llama-3.1-8B"),
        "revision": COMMIT,
        "method": "qlora",
        "sequence_length": 2048,
        "micro_batch": 1,
        "lora_rank": 16,
        "is_checkpointing": True,
        "image": Image.objects.get(slug="unsloth"),
        "gpu": gpu,
        "gpus": 1,
        "regions": ["eu-central-frankfurt", "eu-west-paris"],
        "hours": 40,
        "currency": "USD",
        "wanted_limit": None,
        "storage_plan": StoragePlan.objects.get(slug="persistent"),
        "storage_gb": 200,
        "kept_days": 7,
        "checkpoint_minutes": 30,
        "checkpoints_kept": 3,
        "kept_at_end": "LAST",
        "dataset_note": "",
        "start_deadline": None,
    }
    return services.WantedWorkspace(**facts | changes)


@pytest.fixture
def wanted(offer):
    return wanted_on(GpuModel.objects.get(slug="rtx-4090"))


@pytest.fixture
def typed(offer):
    """
    What a careful renter types: it goes through as it is.
    """
    return {
        "base_model": "meta-llama-3-1-8b",
        "revision": COMMIT,
        "method": "qlora",
        "sequence_length": "2048",
        "micro_batch": "1",
        "lora_rank": "16",
        "is_checkpointing": "on",
        "loss_kernel": "plain",
        "optimizer": "adamw",
        "image": "unsloth",
        "dataset_note": "alpaca, cleaned, v2",
        "gpu": "rtx-4090",
        "gpus": "1",
        "regions": ["eu-central-frankfurt", "eu-west-paris"],
        "hours": "40",
        "storage_plan": "persistent",
        "storage_gb": "200",
        "kept_days": "7",
        "checkpoint_minutes": "30",
        "checkpoints_kept": "3",
        "kept_at_end": "LAST",
        "currency": "USD",
        "wanted_limit": "",
        "start_deadline": "",
    }


@pytest.fixture
def make_quote(rich_renter, wanted):
    """
    Quote what is wanted, at noon, for the renter; arguments change it.
    """

    def make(*, user=rich_renter, at=NOON, **changes):
        return services.quote_workspace(
            user=user, wanted=replace(wanted, **changes), at=at
        )

    return make


@pytest.fixture
def quote(make_quote):
    return make_quote()


@pytest.fixture
def make_funded(make_quote):
    def make(**changes):
        quote = make_quote(**changes)
        return services.fund_workspace(user=quote.user, quote_id=quote.pk, at=NOON)

    return make


@pytest.fixture
def funded(quote):
    return services.fund_workspace(user=quote.user, quote_id=quote.pk, at=NOON)


def matched_at(workspace, offer, *, price="0.33", at=NOON):
    """
    Queue the workspace, take a node and match it, as the market does.
    """
    services.queue_funded(at=at)
    catalog_services.take_node(offer_id=offer.pk, at=at)
    return services.match_workspace(
        workspace_id=workspace.pk, offer_id=offer.pk, hourly_price=usd(price), at=at
    )


@pytest.fixture
def matched(funded, offer):
    return matched_at(funded, offer)


@pytest.fixture
def provisioning(matched):
    return services.begin_provisioning(workspace_id=matched.pk, at=NOON)


def started_at(workspace, *, at=NOON):
    services.begin_provisioning(workspace_id=workspace.pk, at=at)
    return services.start_workspace(workspace_id=workspace.pk, address=ADDRESS, at=at)


@pytest.fixture
def running(matched):
    """
    Ready at noon, until the day after tomorrow at four.
    """
    return started_at(matched)


@pytest.fixture
def stopped(running):
    """
    Stopped after ten hours, its data kept for seven days.
    """
    return services.stop_workspace(
        workspace_id=running.pk, actor=running.user, at=NOON + 10 * HOUR, keep_data=True
    )


def free_nodes(offer):
    return Offer.objects.values_list("free_nodes", flat=True).get(pk=offer.pk)


def wallet_of(user, currency="USD"):
    return next(
        wallet for wallet in wallets_of(user_id=user.pk) if wallet.currency == currency
    )


def hold_on(workspace):
    return hold_of(hold_id=workspace.hold_id)
