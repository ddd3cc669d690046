"""
One of each thing that a page can be about, and the addresses of all pages.
"""

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import translation
from djmoney.money import Money

from billing.models import Wallet
from billing.services import load_shipped_rates
from billing.services.invoices import issue_invoice
from billing.services.top_ups import confirm_top_up, start_top_up
from catalog.models import GpuModel, OfferPrice, PriceFile, Region, StockAlert
from catalog.node_files import written_nodes
from catalog.services import keep_node_file
from marketplace.demo_supplier import company_data
from marketplace.suppliers.companies import apply_as_supplier
from tests.billing import provider
from tests.marketplace import supplier_fixtures
from tests.pages.access import ACCESS
from tests.workspaces.conftest import (  # noqa: F401
    NOON,
    catalog,
    make_funded,
    make_quote,
    offer,
    rich_renter,
    wanted,
)
from workspaces.models import Discrepancy
from workspaces.services import save_draft

# What an address names without a row behind it.
NAMED = {
    "": {},
    "nothing": {"rest": "nothing"},
    "provider": {"provider": "sandbox"},
    "key": {"key": "expired"},
    "reset": {"uidb36": "1", "key": "set-password"},
    "passkey": {"pk": 1},
    "gpu": {"slug": "rtx-4090"},
    "guide": {"slug": "fine-tuning"},
    "guide_text": {"slug": "fine-tuning", "language": "es"},
    "guide_version": {"slug": "fine-tuning", "language": "es", "number": 1},
    "currency": {"currency": "USD"},
    "week": {"currency": "USD", "week": "2026-11-30"},
    # There is none: who may see it has to be looked up before what it is.
    "movement": {"movement_id": 0},
    "payout": {"payout_id": 1},
    "frozen_wallet": {"wallet_id": 0},
}


def draft_top_up(renter):
    return start_top_up(
        user_id=renter.pk,
        net=Money(100, "USD"),
        email=renter.email,
        language="en",
        at=NOON,
    )


def stock_alert(person):
    return StockAlert.objects.create(
        user=person,
        gpu=GpuModel.objects.get(slug="a16"),
        region=Region.objects.first(),
        asked_at=NOON,
    )


def price_file(uploader):
    return PriceFile.objects.create(
        name="prices.csv",
        content=(
            "supplier,gpu,region,gpus_per_node,hourly_price,currency\n"
            "everxcloud,rtx-4090,eu-central-frankfurt,1,0.31,USD\n"
        ),
        uploaded_by=uploader,
        uploaded_at=NOON,
    )


def draft_of(renter):
    return save_draft(user=renter, typed={}, draft_id=None, at=NOON)


def difference():
    return Discrepancy.objects.create(
        kind="MACHINE_DOWN", detail="It is down.", first_seen_at=NOON, last_seen_at=NOON
    )


def things_of_a_supplier(renter):
    company = apply_as_supplier(user=renter, data=company_data("Nordlicht"), at=NOON)
    listed = supplier_fixtures.list_nodes(company)
    file = keep_node_file(
        supplier_id=company.pk,
        name="nodes.csv",
        content="".join(written_nodes(supplier_id=company.pk, at=NOON)),
        actor=renter,
        at=NOON,
    )
    return {
        # There is none: who may see it has to be looked up before what it is.
        "invitation": {"member_id": 0},
        "listing": {"offer_id": listed.pk},
        "node_file": {"file_id": file.pk},
        "supplier": {"slug": company.supplier.slug},
    }


@pytest.fixture
def things(renter, make_funded, make_quote):  # noqa: F811
    """
    One of each thing that a page can be about; all that has an owner is the renter's.
    """
    load_shipped_rates()
    paid = provider.paid(Wallet.objects.get(user=renter, currency="USD"), country="DE")
    paying = confirm_top_up(top_up_id=draft_top_up(renter).pk, at=NOON)
    funded = make_funded()
    return {
        **NAMED,
        "top_up": {"top_up": draft_top_up(renter).uuid},
        "confirmed_top_up": {"top_up": paying.uuid},
        "paid_top_up": {"top_up": paid.uuid},
        "invoice": {"code": issue_invoice(top_up_id=paid.pk, at=NOON).code},
        "sandbox": {"reference": paying.provider_ref.removeprefix("cs_test_")},
        "quote": {"quote_id": make_quote().pk},
        "workspace": {"workspace_id": funded.pk},
        "export": {"workspace_id": funded.pk, "tool": "dstack"},
        "ssh_key": {"key_id": 1},
        "difference": {"discrepancy_id": difference().pk},
        "draft": {"draft_id": draft_of(renter).pk},
        "alert": {"alert_id": stock_alert(renter).pk},
        "price": {"version_id": OfferPrice.objects.first().pk},
        "price_file": {"file_id": price_file(renter).pk},
        **things_of_a_supplier(renter),
    }


@pytest.fixture
def addresses(things):
    with translation.override("en"):
        return {
            name: reverse(name, kwargs=things[access.of])
            for name, access in ACCESS.items()
        }


@pytest.fixture
def clients(renter_client, stranger_client, staff_client):
    return {
        "anonymous": Client(),
        "renter": renter_client,
        "stranger": stranger_client,
        "staff": staff_client,
    }
