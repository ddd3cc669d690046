"""
Browsers may report what the policy blocked; the log hears of it, and of no secret.
"""

import json

import pytest
from django.core.cache import cache
from django.test import Client
from django.urls import reverse

from config.csp_reports import MOST_BYTES, MOST_OF_A_CLIENT

pytestmark = pytest.mark.django_db
KIND = "application/csp-report"


@pytest.fixture(autouse=True)
def _nothing_is_counted_yet():
    cache.clear()
    yield
    cache.clear()


def send(client=None, **said):
    body = json.dumps({"csp-report": said})
    return (client or Client(enforce_csrf_checks=True)).post(
        "/csp-reports", body, content_type=KIND
    )


def test_the_policy_of_each_page_says_where_to():
    policy = Client().get("/robots.txt")["Content-Security-Policy"]

    assert f"report-uri {reverse('csp_reports')}" in policy


@pytest.mark.parametrize(
    ("said", "line"),
    [
        pytest.param(
            {
                "effective-directive": "script-src-elem",
                "blocked-uri": "https://evil.example/x.js?token=canary",
                "document-uri": "https://corehour.example/es/wallet/?session=canary",
                "script-sample": "canary",
                "referrer": "https://corehour.example/canary",
            },
            "script-src-elem of https://evil.example on billing:wallet",
            id="no queries, samples or referrers",
        ),
        pytest.param(
            {
                "violated-directive": "style-src 'self'",
                "blocked-uri": "inline",
                "document-uri": "https://x/account/password/reset/key/1-canary/",
            },
            "style-src of inline on account_reset_password_from_key",
            id="an address that logs somebody in is named only",
        ),
        pytest.param(
            {
                "effective-directive": "script-src\nCRITICAL canary",
                "blocked-uri": "https://user:canary@evil.example\n/",
                "document-uri": "canary",
            },
            "unknown of https://evil.example on unknown",
            id="nothing is believed",
        ),
    ],
)
def test_one_line_without_secrets(said, line, caplog):
    answer = send(**said)

    assert answer.status_code == 204
    [record] = [r for r in caplog.records if r.name == "config.csp_reports"]
    assert record.getMessage() == f"The policy kept something from running: {line}"


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ("", 400),
        ("[]", 400),
        ('{"csp-report": 1}', 400),
        ('{"csp-report": {"effective-directive": {}}}', 400),
        ('{"csp-report": {"effective-directive": "x", "blocked-uri": [1]}}', 400),
        ('{"csp-report": {"effective-directive": "x", "blocked-uri": "//["}}', 400),
        (b"\xff", 400),
        ("[" * MOST_BYTES, 400),
        ("[" * (MOST_BYTES + 1), 413),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_is_no_report_is_refused(body, status, caplog):
    answer = Client().post("/csp-reports", body, content_type=KIND)

    assert answer.status_code == status
    assert not [r for r in caplog.records if r.name == "config.csp_reports"]


def test_nobody_fills_the_log(caplog):
    said = {"effective-directive": "img-src"}
    answers = [send(**said).status_code for _ in range(MOST_OF_A_CLIENT)]

    refused = send(**said)

    assert answers == [204] * MOST_OF_A_CLIENT
    assert refused.status_code == 429
    assert refused["Retry-After"] == "60"
    lines = [r for r in caplog.records if r.name == "config.csp_reports"]
    assert len(lines) == MOST_OF_A_CLIENT


def test_it_is_never_looked_at():
    assert Client().get("/csp-reports").status_code == 405
