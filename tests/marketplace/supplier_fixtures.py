"""
A supplier with fixed meaning: Nordlicht, whose owner is `owner`; a rival with one too.
"""

import pytest

from catalog import services as catalog_services
from catalog.models import GpuModel, Region
from marketplace.demo_supplier import company_data
from marketplace.models import Check
from marketplace.suppliers import companies
from tests.conftest import logged_in
from tests.workspaces.conftest import DAY, NOON, usd

APPLIED = NOON - 20 * DAY


def apply(person, name="Nordlicht", at=APPLIED):
    return companies.apply_as_supplier(user=person, data=company_data(name), at=at)


def verify(company, staff, at=APPLIED):
    for check in Check:
        companies.note_check(
            supplier_id=company.pk, check=check, is_passed=True, actor=staff, at=at
        )
    companies.verify_company(supplier_id=company.pk, actor=staff, at=at)


def nodes(**changes):
    """
    Three RTX 4090 in Paris at 0.32: below EverXCloud's 0.33.
    """
    values = {
        "gpu_id": GpuModel.objects.get(slug="rtx-4090").pk,
        "region_id": Region.objects.get(slug="eu-west-paris").pk,
        "gpus_per_node": 1,
        "nodes": 3,
        "cpu_cores": 16,
        "ram_gb": 64,
        "disk_gb": 1000,
        "network_gbps": 10,
        "cuda_version": "12.8",
        "ask": usd("0.32"),
        "floor": None,
        "available_until": None,
    }
    return catalog_services.Nodes(**values | changes)


def name_bank(company, actor):
    """
    Say that what the company earns in dollars goes to an account that ends in 6199.
    """
    companies.change_bank_account(
        supplier=company.supplier,
        currency="USD",
        holder="Nordlicht GmbH",
        number="DE75512108001245126199",
        bank_code="",
        actor=actor,
        at=NOON,
    )


def typed_nodes(**changes):
    """
    What the form of nodes is sent: three RTX 4090 in Paris at 0.35.
    """
    return {
        "gpu": "rtx-4090",
        "region": "eu-west-paris",
        "gpus_per_node": "1",
        "nodes": "3",
        "cpu_cores": "16",
        "ram_gb": "64",
        "disk_gb": "1000",
        "network_gbps": "2,5",
        "cuda_version": "12.8",
        "ask": "0,35",
        "currency": "USD",
        "floor": "",
        "until": "",
    } | changes


def list_nodes(company, at=NOON - DAY, **changes):
    return catalog_services.list_nodes(
        supplier_id=company.pk, wanted=nodes(**changes), actor=None, at=at
    )


@pytest.fixture
def owner(make_person):
    return make_person("owner@example.com")


@pytest.fixture
def owner_client(owner):
    return logged_in(owner)


@pytest.fixture
def company(owner):
    return apply(owner)


@pytest.fixture
def verified(company, staff):
    verify(company, staff)
    company.refresh_from_db()
    return company


@pytest.fixture
def listed(catalog, verified):
    return list_nodes(verified)


@pytest.fixture
def rival(make_person, staff):
    rival = apply(make_person("rival@example.com"), name="Rival")
    verify(rival, staff)
    return rival


@pytest.fixture
def rival_client(rival):
    return logged_in(rival.supplier.members.get().user)
