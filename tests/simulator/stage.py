"""
What every seed starts from, made once for many: people with money, and what is offered.
"""

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from itertools import product

from django.contrib.auth import get_user_model
from djmoney.money import Money

from billing.gateways import sandbox
from billing.models import BankAccount, SandboxDelivery, SandboxPayment, Wallet
from billing.services.events import process_due, store_event
from billing.services.profiles import save_profile
from billing.services.rates import load_rates
from billing.services.top_ups import confirm_top_up, start_top_up
from catalog.models import Listing, Offer, OfferPrice, Region, Supplier
from tests.billing.conftest import SUPPLIER, make_wallet
from tests.catalog.conftest import make_gpu
from tests.catalog_copy import put_catalog
from tests.simulator import market
from tests.simulator.books import half_up
from tests.simulator.units import CURRENCIES, DAY, moment
from tests.workspaces.conftest import wanted_on
from workspaces.services import WantedWorkspace

START = int(datetime(2026, 10, 20, 7, tzinfo=UTC).timestamp())
# Dollars and pounds for a euro, from which day on.
RATES = [
    ("2026-10-19", "1.25", "0.8"),
    ("2026-10-22", "1.3", "0.85"),
    ("2026-10-25", "1.2345", "0.8123"),
]
SUPPLIERS = {"supplier:plain": "plain", "supplier:fancy": "fancy"}
# Its nodes were listed by staff, not at a desk: nobody starts them by hand.
HOUSE = {"supplier:house": "house"}
FIRST_ID = 10_000
# payee, GPU, GPUs, region, nodes, ask, currency
OFFERED = [
    ("supplier:plain", 0, 1, "north", 2, 1_000_000, "USD"),
    ("supplier:fancy", 0, 1, "south", 1, 800_000, "EUR"),
    ("supplier:plain", 0, 2, "north", 1, 900_000, "USD"),
    ("supplier:fancy", 1, 1, "south", 1, 950_000, "USD"),
    ("supplier:house", 0, 1, "south", 1, 990_000, "USD"),
]


@dataclass
class Stage:
    users: dict
    wallets: list
    # Those top-ups are paid.
    top_ups: list
    staff: object
    gpus: list
    regions: dict
    suppliers: dict
    wanted: WantedWorkspace
    offers: list

    def gpu(self, pk):
        return next(gpu for gpu in self.gpus if gpu.pk == pk)

    def rates_on(self, at, currency):
        """
        Return what one unit of each currency is in this one, to six decimals.
        """
        day = f"{moment(at):%Y-%m-%d}"
        usd, gbp = [rates for since, *rates in RATES if since <= day][-1]
        for_a_euro = {"USD": Fraction(usd), "EUR": Fraction(1), "GBP": Fraction(gbp)}
        return {
            other: Fraction(half_up(for_a_euro[currency] / rate * 10**6), 10**6)
            for other, rate in for_a_euro.items()
        }

    def fresh_offers(self):
        """
        Return twins of the offers, for one seed to change.
        """
        return [market.Offer(**offer) for offer in self.offers]


def set_stage():
    put_catalog(at=moment(START - 10 * DAY))
    head = "CURRENCY,CURRENCY_DENOM,TIME_PERIOD,OBS_VALUE"
    dollars = [f"USD,EUR,{day},{usd}" for day, usd, _ in RATES]
    pounds = [f"GBP,EUR,{day},{gbp}" for day, _, gbp in RATES]
    load_rates(lines=[head, *dollars, *pounds])
    wallets = [
        _customer(number, country, currency)
        for number, country in enumerate(["DE", "US"])
        for currency in CURRENCIES[:: 1 + number]
    ]
    for party, currency in product((SUPPLIER, *SUPPLIERS, *HOUSE), CURRENCIES):
        BankAccount.objects.create(
            party=party, currency=currency, holder="EverXCloud", number="DE75"
        )
    people = get_user_model().objects
    gpus = [_gpu(number) for number in range(2)]
    stage = Stage(
        users={wallet.user_id: wallet.user for wallet in wallets},
        wallets=wallets,
        top_ups=[_top_up(wallet) for wallet in wallets],
        staff=people.create(email="staff@example.com", is_staff=True),
        gpus=gpus,
        regions={slug: _region(slug).pk for slug in ("north", "south")},
        suppliers={
            payee: _supplier(slug).pk for payee, slug in (SUPPLIERS | HOUSE).items()
        },
        wanted=wanted_on(
            gpus[0], regions=["north"], hours=1, storage_gb=0, kept_days=0
        ),
        offers=[],
    )
    for terms in OFFERED:
        stage.offers.append(_offer(stage, *terms))
    return stage


def _customer(number, country, currency):
    wallet = make_wallet(f"renter{number}@example.com", currency)
    save_profile(user_id=wallet.user_id, country=country)
    return Wallet.objects.select_related("user").get(pk=wallet.pk)


def _top_up(wallet):
    """
    Pay 200.00 of its currency into the wallet.
    """
    at = moment(START)
    quote = start_top_up(
        user_id=wallet.user_id,
        net=Money(200, wallet.currency),
        email="renter@example.com",
        language="en",
        at=at,
    )
    top_up = confirm_top_up(top_up_id=quote.pk, at=at)
    payment = SandboxPayment.objects.get(client_reference=str(top_up.uuid))
    sandbox.pay(reference=payment.reference, at=at)
    for row in SandboxDelivery.objects.filter(delivered_at=None).order_by("pk"):
        _tell(row, at)
    return top_up


def _tell(row, at):
    content = json.loads(row.body)
    store_event(
        provider="sandbox",
        body=row.body,
        event_id=content["id"],
        kind=content["type"],
        at=at,
    )
    process_due(at=at)
    SandboxDelivery.objects.filter(pk=row.pk).update(delivered_at=at)


def _gpu(number):
    name = f"GPU {number}"
    return make_gpu(slug=f"gpu-{number}", name=name, label=name, memory_gb=80)


def _region(slug):
    return Region.objects.create(slug=slug, name=slug, city="Oslo", country="NO")


def _supplier(slug):
    return Supplier.objects.create(slug=slug, name=slug, is_verified=True)


def _offer(stage, payee, gpu, gpus, region, nodes, ask, currency):
    """
    Let staff list nodes: a supplier alone could not be the first to ask in euros.
    """
    at = moment(START)
    row = Offer.objects.create(
        # What a simulated machine does is drawn by the id of its offer, too.
        id=FIRST_ID + len(stage.offers),
        supplier_id=stage.suppliers[payee],
        gpu=stage.gpus[gpu],
        region_id=stage.regions[region],
        gpus_per_node=gpus,
        nodes=nodes,
        free_nodes=nodes,
        listed_at=at,
    )
    _price(row, ask, currency, at)
    if payee not in HOUSE:
        _list(row, currency)
    return {
        "id": row.pk,
        "payee": payee,
        "gpu": row.gpu_id,
        "gpus": gpus,
        "region": region,
        "nodes": nodes,
        "ask": ask,
        "currency": currency,
        "listed_at": START,
        "is_simulated": payee in HOUSE,
    }


def _list(offer, currency):
    Listing.objects.create(
        offer=offer,
        cpu_cores=16,
        ram_gb=64,
        disk_gb=1000,
        network_gbps=10,
        currency=currency,
    )


def _price(offer, ask, currency, at):
    OfferPrice.objects.create(
        offer=offer,
        hourly_price=Money(Decimal(ask) / 1_000_000, currency),
        valid_from=at,
        confirmed_at=at,
        created_at=at,
    )
