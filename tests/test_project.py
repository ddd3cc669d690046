"""
What holds for the project as a whole, whatever is added to it.

A page that is not in `ACCESS` fails the tests: who adds one says who may see it.
"""

import os
import subprocess
import sys
from collections import Counter
from http import HTTPStatus
from pathlib import Path
from typing import NamedTuple

import pytest
from django.apps import apps
from django.core.management import call_command
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse
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

# It walks over what other tests count, and counting takes half its time.
pytestmark = pytest.mark.no_cover

CHECKOUT = Path(__file__).parent.parent


class Access(NamedTuple):
    """
    What a GET of a page answers to everybody; `of` names the thing that it is about.
    """

    anonymous: int
    renter: int
    stranger: int
    staff: int
    of: str = ""


def public(of: str = "") -> Access:
    return Access(200, 200, 200, 200, of)


def for_everybody_logged_in(of: str = "") -> Access:
    return Access(302, 200, 200, 200, of)


def for_its_owner(of: str) -> Access:
    return Access(302, 200, 404, 404, of)


def by_post(of: str = "") -> Access:
    return Access(302, 405, 405, 405, of)


def for_staff(of: str = "") -> Access:
    return Access(302, 404, 404, 200, of)


def before_log_in(of: str = "") -> Access:
    return Access(200, 302, 302, 302, of)


def asks_password_again() -> Access:
    return Access(302, 302, 302, 302)


ACCESS = {
    "healthz": public(),
    "csp_reports": Access(405, 405, 405, 405),
    "robots": public(),
    "sitemap": public(),
    "webhook": Access(405, 405, 405, 405, "provider"),
    # allauth
    "account_login": before_log_in(),
    "account_logout": for_everybody_logged_in(),
    "account_inactive": public(),
    "account_signup": before_log_in(),
    "account_reauthenticate": for_everybody_logged_in(),
    "account_request_reauthentication_code": for_everybody_logged_in(),
    "account_confirm_reauthentication_code": Access(302, 302, 302, 302),
    "account_email": for_everybody_logged_in(),
    "account_email_verification_sent": public(),
    "account_change_password": for_everybody_logged_in(),
    "account_set_password": Access(302, 302, 302, 302),
    "account_reset_password": public(),
    "account_confirm_login_code": Access(302, 302, 302, 302),
    "account_confirm_email": public("key"),
    "account_reset_password_from_key_done": public(),
    "account_reset_password_from_key": public("reset"),
    "account_reset_password_done": public(),
    "mfa_index": for_everybody_logged_in(),
    "mfa_authenticate": Access(302, 302, 302, 302),
    "mfa_reauthenticate": Access(302, 302, 302, 302),
    "mfa_activate_totp": asks_password_again(),
    "mfa_deactivate_totp": Access(302, 404, 404, 404),
    "mfa_view_recovery_codes": Access(302, 404, 404, 404),
    "mfa_generate_recovery_codes": asks_password_again(),
    "mfa_download_recovery_codes": Access(302, 404, 404, 404),
    "mfa_list_webauthn": for_everybody_logged_in(),
    "mfa_add_webauthn": asks_password_again(),
    "mfa_reauthenticate_webauthn": Access(302, 302, 302, 302),
    "mfa_remove_webauthn": asks_password_again()._replace(of="passkey"),
    "mfa_edit_webauthn": asks_password_again()._replace(of="passkey"),
    "mfa_login_webauthn": Access(302, 302, 302, 302),
    "usersessions_list": for_everybody_logged_in(),
    # marketplace
    "marketplace:home": public(),
    "marketplace:dashboard": for_everybody_logged_in(),
    "marketplace:market": public(),
    "marketplace:market_gpu": public("gpu"),
    "marketplace:how_matching_works": public(),
    "marketplace:profile": for_everybody_logged_in(),
    "marketplace:mailbox": public(),
    "marketplace:staff": for_staff(),
    "marketplace:staff_launch": for_staff(),
    "marketplace:staff_matches": for_staff(),
    "marketplace:staff_open": for_staff(),
    "marketplace:staff_pause": for_staff(),
    "marketplace:staff_prices": for_staff(),
    "marketplace:staff_prices_check": by_post(),
    "marketplace:staff_prices_save": by_post(),
    "marketplace:staff_prices_csv": for_staff(),
    "marketplace:staff_price_files": for_staff(),
    "marketplace:staff_price_file": for_staff("price_file"),
    "marketplace:staff_price_changes": for_staff(),
    "marketplace:staff_price_proposals": for_staff(),
    "marketplace:staff_undo_save": by_post(),
    "marketplace:staff_undo_price": by_post("price"),
    "marketplace:staff_clock": for_staff(),
    "marketplace:look": for_staff(),
    # suppliers
    "marketplace:supplier": Access(302, 200, 302, 302),
    "marketplace:supplier_apply": Access(200, 200, 200, 200),
    "marketplace:supplier_join": by_post("invitation"),
    "marketplace:supplier_nodes": for_its_owner(""),
    "marketplace:supplier_add": for_its_owner(""),
    "marketplace:supplier_confirm": by_post(),
    "marketplace:supplier_nodes_csv": for_its_owner(""),
    "marketplace:supplier_files": for_its_owner(""),
    "marketplace:supplier_file": for_its_owner("node_file"),
    "marketplace:supplier_change": for_its_owner("listing"),
    "marketplace:supplier_pause": by_post("listing"),
    "marketplace:supplier_resume": by_post("listing"),
    "marketplace:supplier_remove": for_its_owner("listing"),
    "marketplace:supplier_starts": for_its_owner(""),
    # What was only funded is on nobody's node.
    "marketplace:supplier_start": Access(302, 404, 404, 404, "workspace"),
    "marketplace:supplier_refuse_start": Access(302, 404, 404, 404, "workspace"),
    "marketplace:supplier_interrupt": Access(302, 404, 404, 404, "workspace"),
    "marketplace:supplier_earnings": for_its_owner(""),
    "marketplace:supplier_statement_csv": for_its_owner(""),
    # These ask for the password again.
    "marketplace:supplier_bank": Access(302, 302, 404, 404),
    "marketplace:supplier_people": Access(302, 302, 404, 404),
    "marketplace:supplier_remove_person": by_post("invitation"),
    "marketplace:supplier_demand": for_its_owner(""),
    "marketplace:supplier_demand_csv": for_its_owner(""),
    "marketplace:staff_demand": for_staff(),
    "marketplace:staff_demand_csv": for_staff(),
    "marketplace:staff_suppliers": for_staff(),
    "marketplace:staff_supplier": for_staff("supplier"),
    "marketplace:staff_supplier_check": by_post("supplier"),
    "marketplace:staff_supplier_verify": by_post("supplier"),
    "marketplace:staff_supplier_ask": by_post("supplier"),
    "marketplace:staff_supplier_refuse": by_post("supplier"),
    "marketplace:staff_supplier_suspend": by_post("supplier"),
    # catalog
    "catalog:planner": public(),
    "catalog:planner_config": Access(405, 405, 405, 405),
    "catalog:estimates": public(),
    "catalog:estimates_csv": public(),
    "catalog:api": public(),
    "api:index": public(),
    "api:api-root": public(),
    "api:openapi-json": public(),
    "api:gpus": public(),
    "api:gpu": public("gpu"),
    "api:regions": public(),
    "api:models": public(),
    "api:offers": public(),
    "api:offers_csv": public(),
    "api:gpuhunt_csv": public(),
    "api:skypilot_csv": public(),
    "api:price_history": public("gpu"),
    "api:estimate": public(),
    "api:own_estimate": Access(422, 422, 422, 422),
    "api:cost": public("gpu"),
    "api:unknown": Access(404, 404, 404, 404, "nothing"),
    "catalog:gpus": public(),
    "catalog:gpu": public("gpu"),
    "catalog:gpu_prices_csv": public("gpu"),
    "catalog:availability": public(),
    "catalog:ask_for_alert": by_post(),
    "catalog:stop_alert": public("alert"),
    "catalog:workloads": public(),
    "catalog:workload": public("guide"),
    "catalog:workload_card": public("guide"),
    "catalog:gpu_card": public("gpu"),
    "catalog:guide_texts": for_staff(),
    "catalog:guide_versions": for_staff("guide_text"),
    "catalog:guide_preview": for_staff("guide_version"),
    "catalog:guide_edit": for_staff("guide_version"),
    "catalog:guide_publish": by_post("guide_version"),
    # billing
    "billing:wallet": for_everybody_logged_in(),
    "billing:top_up": for_everybody_logged_in(),
    "catalog:compare": public(),
    "billing:top_up_confirm": for_its_owner("top_up"),
    "billing:top_up_status": for_its_owner("confirmed_top_up"),
    "billing:refund": for_its_owner("paid_top_up"),
    "billing:refund_confirm": by_post("paid_top_up"),
    "billing:invoices": for_everybody_logged_in(),
    "billing:invoice": for_its_owner("invoice"),
    "billing:card_remove": by_post(),
    "billing:auto_top_up": for_everybody_logged_in("currency"),
    "billing:auto_top_up_off": by_post("currency"),
    "billing:statement": for_everybody_logged_in("currency"),
    "billing:statement_csv": for_everybody_logged_in("currency"),
    "billing:statement_pdf": for_everybody_logged_in("currency"),
    "billing:sandbox_pay": for_its_owner("sandbox"),
    "billing:sandbox_pay_now": by_post("sandbox"),
    "billing:sandbox_decline": by_post("sandbox"),
    "billing:sandbox_pay_later": by_post("sandbox"),
    "billing:sandbox_fail_later": by_post("sandbox"),
    "billing:sandbox_dispute": by_post("sandbox"),
    "billing:sandbox_dispute_won": by_post("sandbox"),
    "billing:sandbox_dispute_lost": by_post("sandbox"),
    "billing:books": for_staff(),
    "billing:disputes": for_staff(),
    "billing:unfreeze": for_staff("frozen_wallet")._replace(staff=404),
    "billing:payouts": for_staff(),
    "billing:payouts_run": by_post(),
    "billing:payouts_csv": for_staff("week"),
    "billing:payout_paid": by_post("payout"),
    "billing:payout_return": for_staff("payout")._replace(staff=404),
    # workspaces
    "workspaces:how_billing_works": public(),
    "workspaces:pilot": public(),
    "workspaces:list": for_everybody_logged_in(),
    "workspaces:request": for_everybody_logged_in(),
    "workspaces:quote": for_its_owner("quote"),
    "workspaces:fund": by_post("quote"),
    "workspaces:again": by_post("quote"),
    "workspaces:detail": for_its_owner("workspace"),
    "workspaces:cancel": for_its_owner("workspace"),
    # What was only funded has nothing to stop and no data to delete.
    "workspaces:stop": Access(302, 302, 404, 404, "workspace"),
    "workspaces:delete": Access(302, 302, 404, 404, "workspace"),
    "workspaces:keys": for_everybody_logged_in(),
    "workspaces:remove_key": by_post("ssh_key"),
    "workspaces:machines": for_staff(),
    # What was only funded is not being started, and does not run.
    "workspaces:staff_start": Access(302, 404, 404, 404, "workspace"),
    "workspaces:staff_fail": Access(302, 404, 404, 404, "workspace"),
    "workspaces:staff_interrupt": Access(302, 404, 404, 404, "workspace"),
    "workspaces:differences": for_staff(),
    "workspaces:close_difference": for_staff()._replace(of="difference"),
    "workspaces:export": for_its_owner("export"),
    "workspaces:save_draft": Access(302, 405, 405, 405),
    "workspaces:delete_draft": by_post("draft"),
    "workspaces:extend": Access(302, 302, 404, 404, "workspace"),
    "workspaces:extend_now": by_post("workspace"),
    "workspaces:auto_extend": by_post("workspace"),
    "workspaces:resume": Access(302, 302, 404, 404, "workspace"),
    "workspaces:give_up": by_post("workspace"),
}

# And by the button of a mail program: the id in its address is the proof. What a
# browser reports of the policy changes nothing.
MADE_BY_SIGNED_CALLS = {"webhook", "catalog:stop_alert", "csp_reports"}
# Without a token, or because nothing can be changed there: the API.
REFUSED = {HTTPStatus.FORBIDDEN, HTTPStatus.METHOD_NOT_ALLOWED}
# The API's answers are the same in every language.
WITHOUT_LANGUAGE = "api:"


def names_of(resolver: URLResolver, prefix: str = "") -> list[str]:
    names = []
    for entry in resolver.url_patterns:
        if isinstance(entry, URLPattern):
            names.append(f"{prefix}{entry.name}")
        elif entry.namespace != "admin":
            inner = f"{entry.namespace}:" if entry.namespace else ""
            names += names_of(entry, prefix + inner)
    return names


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
        "top_up": {"top_up": draft_top_up(renter).uuid},
        "confirmed_top_up": {"top_up": paying.uuid},
        "paid_top_up": {"top_up": paid.uuid},
        "invoice": {"code": issue_invoice(top_up_id=paid.pk, at=NOON).code},
        "week": {"currency": "USD", "week": "2026-11-30"},
        # There is none: who may see it has to be looked up before what it is.
        "payout": {"payout_id": 1},
        "frozen_wallet": {"wallet_id": 0},
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


def test_no_migration_is_missing(db):
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)


def test_the_production_settings_pass_the_deployment_check():
    production = {
        "PATH": os.environ["PATH"],
        "DATABASE_URL": os.environ["DATABASE_URL"],
        "REDIS_URL": os.environ["REDIS_URL"],
        "SECRET_KEY": "k7#pQ2!vR9@tW4^yU6&iO1*eA3(sD5)fG8-hJ0_kL+zXcVbNmM",
        "SITE_URL": "https://corehour.example",
        "STRIPE_SECRET_KEY": "sk_live_example",
        "STRIPE_WEBHOOK_SECRETS": "whsec_example_that_is_long_enough",
        "SELLER_NAME": "Example Ltd",
        "SELLER_ADDRESS": "1 Example Street",
        "SELLER_COUNTRY": "DE",
        "SELLER_VAT_ID": "DE123456789",
    }
    check = [sys.executable, "manage.py", "check", "--deploy"]

    done = subprocess.run(
        [*check, "--fail-level", "WARNING"],
        cwd=CHECKOUT,
        env=production,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr


def test_every_page_says_who_may_see_it():
    names = Counter(names_of(get_resolver()))

    assert sorted(names) == sorted(ACCESS)
    assert set(names.values()) == {1}


@pytest.mark.parametrize("who", ["anonymous", "renter", "stranger", "staff"])
def test_shows_pages_to_those_who_may_see_them(who, addresses, clients):
    answers = {
        name: clients[who].get(path).status_code for name, path in addresses.items()
    }

    assert answers == {name: getattr(access, who) for name, access in ACCESS.items()}


def test_takes_no_post_without_a_token(addresses, renter):
    client = Client(enforce_csrf_checks=True)
    client.force_login(renter)

    accepted = {
        name
        for name, path in addresses.items()
        if client.post(path).status_code not in REFUSED
    }

    assert accepted == MADE_BY_SIGNED_CALLS


@pytest.mark.parametrize("who", ["anonymous", "renter", "staff"])
def test_answers_with_the_headers_that_protect_a_browser(who, addresses, clients):
    for name, path in addresses.items():
        headers = clients[who].get(path).headers

        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy, name
        assert "unsafe" not in policy, name
        assert headers["X-Content-Type-Options"] == "nosniff", name
        assert headers["X-Frame-Options"] == "DENY", name
        assert headers["Cross-Origin-Opener-Policy"] == "same-origin", name
        assert "strict-origin" in headers["Referrer-Policy"], name
        if headers["Content-Type"].startswith("text/"):
            assert "charset=" in headers["Content-Type"], name
        if who != "anonymous":
            assert "no-store" in headers["Cache-Control"], name


def row_counts():
    return {
        model._meta.label: model._default_manager.count()
        for model in apps.get_models()
        # Looking at a page may begin or lengthen a session.
        if model._meta.label not in {"sessions.Session", "usersessions.UserSession"}
    }


@pytest.mark.parametrize("who", ["anonymous", "renter", "staff"])
def test_looking_changes_nothing(who, addresses, clients):
    before = row_counts()

    for path in addresses.values():
        clients[who].get(path)
        clients[who].head(path)

    assert row_counts() == before


def test_knows_no_other_methods(addresses, renter_client):
    for name, path in addresses.items():
        for method in ["PUT", "PATCH", "DELETE", "TRACE"] if ":" in name else []:
            answer = renter_client.generic(method, path)
            assert answer.status_code in {404, 405}, (method, name)


@pytest.mark.parametrize("language", ["es", "id"])
def test_every_page_has_an_address_in_every_language(
    language, addresses, renter_client
):
    ours = {
        name: path
        for name, path in addresses.items()
        if ":" in name and not name.startswith(WITHOUT_LANGUAGE)
    }

    answers = {
        name: renter_client.get(f"/{language}{path}").status_code
        for name, path in ours.items()
    }

    assert answers == {name: ACCESS[name].renter for name in ours}
