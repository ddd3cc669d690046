"""
One line is one event, whatever people type, and no secret is in it.
"""

import json
import logging
import sys
from datetime import datetime, timedelta

import pytest

from config import celery_app
from config.logs import MASK, LineFormatter


def line_of(message, *args, exc_info=None):
    record = logging.LogRecord(
        "corehour", logging.WARNING, __file__, 1, message, args, exc_info
    )
    return LineFormatter().format(record)


@pytest.fixture
def lines():
    """
    What the site logs, as the console gets it.
    """
    kept = []

    class Keep(logging.Handler):
        def emit(self, record):
            kept.append(LineFormatter().format(record))

    handler = Keep()
    logging.getLogger().addHandler(handler)
    yield kept
    logging.getLogger().removeHandler(handler)


def test_a_line_says_when_what_and_from_where_in_utc():
    line = json.loads(line_of("Kept out of %s", "/staff/"))

    assert line["level"] == "WARNING"
    assert line["logger"] == "corehour"
    assert line["message"] == "Kept out of /staff/"
    assert datetime.fromisoformat(line["at"]).utcoffset() == timedelta(0)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\x0b", "\x00", "\x1b[2K"])
def test_nobody_forges_a_line(end):
    typed = f'x{end}{{"level": "CRITICAL", "message": "all is lost"}}'

    line = line_of("Unknown name %s", typed)

    assert not {"\n", "\r", "\x0b", "\x00", "\x1b"} & set(line)
    assert json.loads(line)["message"] == f"Unknown name {typed}"


@pytest.mark.parametrize(
    ("secret", "message"),
    [
        ("sk_live_canary12345", "Stripe refused {}"),
        ("rk_test_canary12345", "Stripe refused {}"),
        ("whsec_canary12345", "Signed with {}"),
        ("k3j4h5canary", "Cookie: theme=dark; __Host-session={}; x=y"),
        ("2k-canary-abc", "Not Found: /es/account/password/reset/key/{}/"),
        ("MQ:canary:x", "Not Found: /account/confirm-email/{}/"),
    ],
)
def test_secrets_are_masked_in_messages_and_errors(secret, message):
    try:
        int(message.format(secret))
    except ValueError:
        line = line_of(message.format(secret), exc_info=sys.exc_info())

    assert "canary" not in line
    assert line.count(MASK) >= 2
    assert "ValueError" in json.loads(line)["error"]


def test_a_request_has_one_number_in_its_log_and_its_answer(renter_client, lines):
    answer = renter_client.get("/staff/", headers={"x-request-id": "mine"})

    logged = [json.loads(line) for line in lines if "/staff/" in line]
    kept_out = next(line for line in logged if line["message"].startswith("Kept out"))
    assert answer.status_code == 404
    assert kept_out["request"] == answer["X-Request-ID"] != "mine"
    assert kept_out["client"] == "127.0.0.1"
    assert str(kept_out["user"]) == renter_client.session["_auth_user_id"]
    assert renter_client.get("/staff/")["X-Request-ID"] != answer["X-Request-ID"]


def test_a_refused_log_in_is_logged_without_what_was_typed(client, db, lines):
    typed = {"login": "canary@example.com", "password": "canary-too"}

    client.post("/account/login/", typed)

    assert any("A log-in was refused" in line for line in lines)
    assert "canary" not in "".join(lines)


def test_a_task_is_named_in_its_log(lines):
    @celery_app.task(name="tests.speak")
    def speak():
        logging.getLogger("billing").warning("from inside")

    done = speak.apply()

    (line,) = (json.loads(line) for line in lines if "from inside" in line)
    assert (line["task"], line["task_id"]) == ("tests.speak", done.id)
