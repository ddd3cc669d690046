"""
The settings as an operator has them: what a browser, a liar and a report are told.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parent.parent.parent
SECRETS = {
    "SECRET_KEY": "k7#pQ2!vR9@tW4^yU6&iO1*eA3(sD5)fG8-hJ0_kL+zXcVbNmM",
    "SECRET_KEY_FALLBACKS": "canary-old-key-canary-old-key-canary-old-key-canary",
    "STRIPE_SECRET_KEY": "sk_live_canary",
    "STRIPE_WEBHOOK_SECRETS": "whsec_canary_one,whsec_canary_two",
    "EMAIL_URL": "smtp+tls://postman:canary-mail@mail.example:587",
    "REDIS_URL": "redis://:canary-redis@cache.example:6379/0",
}
CANARIES = [*SECRETS.values(), "canary", "postman", "whsec_"]
ASK = """
import json, django
django.setup()
from django.conf import settings
from django.test import Client
from django.views.debug import get_default_exception_reporter_filter

def told(**how):
    answer = Client().get("/robots.txt", **how)
    return [answer.status_code, dict(answer.headers)]

names = [f"{kind}_COOKIE_{what}" for kind in ("SESSION", "CSRF")
         for what in ("NAME", "SECURE", "HTTPONLY", "SAMESITE", "DOMAIN", "PATH")]
print(json.dumps({
    "plain": told(headers={"host": "corehour.example"}),
    "spoofed": told(headers={
        "host": "corehour.example", "x-forwarded-proto": "https"}),
    "secure": told(headers={"host": "corehour.example"}, secure=True),
    "foreign": told(headers={"host": "evil.example"}, secure=True),
    "forwarded": told(headers={
        "host": "evil.example", "x-forwarded-host": "corehour.example"}, secure=True),
    "cross": told(headers={
        "host": "corehour.example", "origin": "https://evil.example"}, secure=True),
    "cookies": [getattr(settings, name) for name in names],
    "browser": settings.BROWSER_COOKIE_NAME,
    "debug": settings.DEBUG,
    "timeouts": settings.DATABASES["default"]["OPTIONS"]["options"],
    "report": str(get_default_exception_reporter_filter().get_safe_settings()),
}))
"""


@pytest.fixture(scope="module")
def site():
    """
    Start the site once with production settings, and return what it said.
    """
    environment = {
        "PATH": os.environ["PATH"],
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "DATABASE_URL": "postgres://corehour:canary-db@db.example/corehour",
        "SITE_URL": "https://corehour.example",
        "SELLER_NAME": "Example Ltd",
        "SELLER_ADDRESS": "1 Example Street",
        "SELLER_COUNTRY": "DE",
        "SELLER_VAT_ID": "DE123456789",
        **SECRETS,
    }
    done = subprocess.run(
        [sys.executable, "-c", "import config.wsgi\n" + ASK],
        cwd=CHECKOUT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_only_https_is_spoken(site):
    for how in ("plain", "spoofed"):
        status, headers = site[how]
        assert (status, headers["Location"]) == (
            301,
            "https://corehour.example/robots.txt",
        )
    status, headers = site["secure"]
    assert status == 200
    assert headers["Strict-Transport-Security"] == (
        "max-age=31536000; includeSubDomains; preload"
    )


@pytest.mark.parametrize("how", ["foreign", "forwarded"])
def test_a_foreign_host_is_refused(site, how):
    assert site[how][0] == 400


def test_other_sites_scripts_read_nothing(site):
    assert "Access-Control-Allow-Origin" not in site["cross"][1]


def test_no_answer_tells_what_runs_here(site):
    assert not {"Server", "X-Powered-By"} & set(site["secure"][1])
    assert site["debug"] is False


def test_cookies_are_for_this_host_and_https_alone(site):
    kept = [True, True, "Lax", None, "/"]

    assert site["cookies"] == ["__Host-session", *kept, "__Host-csrf", *kept]
    assert site["browser"] == "__Host-browser"


def test_a_page_waits_for_the_database_ten_seconds_at_most(site):
    assert "statement_timeout=10s" in site["timeouts"]
    assert "lock_timeout=3s" in site["timeouts"]


@pytest.mark.parametrize("secret", CANARIES)
def test_error_reports_show_no_secret(site, secret):
    assert secret not in site["report"]
