"""
The demo's supplier: checked, with nodes on the list and pilot rentals that earned
something, another company that waits to be checked, and requests that wait for nodes.
"""

from datetime import datetime, timedelta
from decimal import Decimal

from django.conf import settings
from django.db import transaction
from djmoney.money import Money

from billing import services as billing
from billing.demo import top_up_in_sandbox
from catalog import services as catalog
from catalog.models import (
    BaseModel,
    GpuModel,
    Image,
    Region,
    StoragePlan,
    Supplier,
)
from marketplace.models import Check, User
from marketplace.suppliers import companies
from workspaces import services as workspaces

NAME, SLUG = "Nordlicht Compute (demo)", "nordlicht-compute-demo"
DAY, HOUR = timedelta(days=1), timedelta(hours=1)
LISTED_FOR = 24 * DAY
PARIS, FRANKFURT = "eu-west-paris", "eu-central-frankfurt"

# GPU, region, GPUs a node, nodes, cores, GB of RAM and of disk, Gbit/s, ask, floor.
NODES = [
    ("rtx-4090", PARIS, 1, 3, 16, 64, 1000, "2.5", "0.37", "0.30"),
    ("l40s", FRANKFURT, 2, 2, 32, 256, 4000, "10", "0.85", None),
    ("h100-sxm", PARIS, 8, 1, 192, 2000, 15000, "100", "2.95", "2.60"),
]
# Begun so many days ago, for so many hours, GPUs, price per GPU-hour.
PILOTS = [(20, 40, 1, "0.37"), (10, 24, 2, "0.85"), (3, 30, 1, "0.37")]
SMALL, LARGE = "meta-llama/Meta-Llama-3.1-8B", "meta-llama/Meta-Llama-3.1-70B"
# GPU, region, base model, method, sequence length, hours, limit per GPU-hour. The last
# one takes a node of the demo's supplier, who then has a start to confirm.
REQUESTS = [
    ("b300", FRANKFURT, LARGE, "lora", 8192, 12, "7.20"),
    ("b300", FRANKFURT, LARGE, "qlora", 16384, 16, "7.00"),
    ("b300", FRANKFURT, LARGE, "lora", 8192, 8, "7.50"),
    ("b300", FRANKFURT, SMALL, "full", 8192, 10, "6.95"),
    ("l40s", FRANKFURT, SMALL, "qlora", 4096, 40, "0.90"),
    ("l40s", FRANKFURT, SMALL, "lora", 4096, 24, "0.85"),
    ("l40s", FRANKFURT, SMALL, "qlora", 2048, 8, "0.80"),
    ("rtx-4090", PARIS, SMALL, "qlora", 2048, 20, "0.40"),
]


def company_data(name: str, **changes: str) -> companies.CompanyData:
    """
    Return what an invented company says of itself.
    """
    data = {
        "name": name,
        "legal_name": "Nordlicht Compute GmbH (invented)",
        "registration_number": "HRB 00000",
        "vat_id": "DE136695976",
        "address": "Beispielweg 1, 24103 Kiel",
        "country": "DE",
        "website": "https://nordlicht.example",
        "contact_name": "Mia Muster",
        "phone": "+49 431 000000",
        "about": "Six nodes in two halls, run by four people around the clock.",
    }
    return companies.CompanyData(**{**data, **changes})


@transaction.atomic
def prepare(
    *, owner: User, applicant: User, renters: list[User], staff: User, at: datetime
) -> None:
    """
    Make all of it once; what exists already only has its asks confirmed.
    """
    if Supplier.objects.filter(slug=SLUG).exists():
        catalog.confirm_prices_of(supplier_slug=SLUG, at=at)
        return
    began_at = at - LISTED_FOR
    supplier_id = _verified(owner, staff, at=began_at)
    for nodes in NODES:
        _list(nodes, supplier_id=supplier_id, actor=owner, at=began_at)
    catalog.confirm_prices_of(supplier_slug=SLUG, at=at)
    _earn(renters[0], owner, at=at)
    companies.apply_as_supplier(
        user=applicant,
        data=company_data(
            "Ostwind GPU (demo)",
            legal_name="Ostwind GPU sp. z o.o. (invented)",
            vat_id="PL8567346215",
            country="PL",
            address="Przykładowa 2, Szczecin",
            website="",
        ),
        at=at - DAY,
    )
    for renter, request in zip(renters, REQUESTS, strict=True):
        _fund(renter, request, at=at)


def _verified(owner: User, staff: User, *, at: datetime) -> int:
    company = companies.apply_as_supplier(user=owner, data=company_data(NAME), at=at)
    Supplier.objects.filter(pk=company.pk).update(is_demo=True)
    for check in Check:
        companies.note_check(
            supplier_id=company.pk, check=check, is_passed=True, actor=staff, at=at
        )
    companies.verify_company(supplier_id=company.pk, actor=staff, at=at)
    companies.change_bank_account(
        supplier=company.supplier,
        currency="USD",
        holder=company.legal_name,
        number="DE75512108001245126199",
        bank_code="",
        actor=owner,
        at=at,
    )
    return company.supplier_id


def _list(
    nodes: tuple[str, str, int, int, int, int, int, str, str, str | None],
    *,
    supplier_id: int,
    actor: User,
    at: datetime,
) -> None:
    gpu, region, size, number, cores, ram, disk, network, ask, floor = nodes
    wanted = catalog.Nodes(
        gpu_id=GpuModel.objects.get(slug=gpu).pk,
        region_id=Region.objects.get(slug=region).pk,
        gpus_per_node=size,
        nodes=number,
        cpu_cores=cores,
        ram_gb=ram,
        disk_gb=disk,
        network_gbps=Decimal(network),
        cuda_version="12.8",
        ask=Money(Decimal(ask), "USD"),
        floor=Decimal(floor) if floor else None,
        available_until=None,
    )
    catalog.list_nodes(supplier_id=supplier_id, wanted=wanted, actor=actor, at=at)


def _earn(renter: User, owner: User, *, at: datetime) -> None:
    """
    Let pilot rentals of the past be billed and the first of them be paid out.
    """
    paid_at = at - LISTED_FOR + DAY
    net = Money(Decimal(150), "USD")
    top_up_in_sandbox(user_id=renter.pk, email=renter.email, net=net, at=paid_at)
    for number, (days, hours, gpus, price) in enumerate(PILOTS, 1):
        rate = Money(Decimal(price), "USD")
        begun_at = (at - days * DAY).replace(minute=0, second=0, microsecond=0)
        ended_at = begun_at + hours * HOUR
        hold = billing.place_hold(
            user_id=renter.pk,
            amount=rate * gpus * hours,
            reference=f"pilot:{number}",
            key=f"pilot:{number}",
            at=begun_at,
        )
        meter = billing.start_meter(
            hold_id=hold.id,
            name="compute",
            rate=rate,
            units=Decimal(gpus),
            period_seconds=3600,
            payee=f"supplier:{SLUG}",
            fee_rate=settings.PLATFORM_FEE_RATE,
            started_at=begun_at,
            ends_at=ended_at,
            key=f"pilot:{number}",
        )
        billing.stop_meter(meter_id=meter.id, at=ended_at)
        billing.release_hold(hold_id=hold.id, key=f"pilot:{number}:end", at=ended_at)
    for payout in billing.run_payouts(at=at - 11 * DAY):
        billing.mark_payout_paid(payout_id=payout.pk, at=at - 10 * DAY)


def _fund(
    renter: User, request: tuple[str, str, str, str, int, int, str], *, at: datetime
) -> None:
    gpu, region, model, method, sequence_length, hours, limit = request
    top_up_in_sandbox(
        user_id=renter.pk, email=renter.email, net=Money(Decimal(200), "USD"), at=at
    )
    wanted = workspaces.WantedWorkspace(
        base_model=BaseModel.objects.get(hf_id=model),
        revision="0123456789abcdef0123456789abcdef01234567",
        method=method,
        sequence_length=sequence_length,
        micro_batch=1,
        lora_rank=None if method == "full" else 16,
        is_checkpointing=True,
        image=Image.objects.get(slug="pytorch"),
        gpu=GpuModel.objects.get(slug=gpu),
        gpus=1,
        regions=[region],
        hours=hours,
        currency="USD",
        wanted_limit=Decimal(limit),
        storage_plan=StoragePlan.objects.get(slug="persistent"),
        storage_gb=200,
        kept_days=7,
        checkpoint_minutes=30,
        checkpoints_kept=3,
        kept_at_end="LAST",
        dataset_note="",
        start_deadline=None,
    )
    quote = workspaces.quote_workspace(user=renter, wanted=wanted, at=at)
    workspaces.fund_workspace(user=renter, quote_id=quote.pk, at=at)
