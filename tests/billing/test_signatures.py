from datetime import UTC, datetime, timedelta

import pytest
import stripe

from billing.signatures import SignatureInvalid, sign, verify

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
BODY = '{"id": "evt_1", "note": "ñ"}'.encode()
SECRET = "whsec_one"


def is_accepted(header, *, body=BODY, secrets=(SECRET,), at=NOON):
    try:
        verify(body, header=header, secrets=secrets, at=at)
    except SignatureInvalid:
        return False
    return True


def test_signs_as_stripe_does():
    theirs = stripe.WebhookSignature.generate_signature_header(
        BODY.decode(), SECRET, timestamp=int(NOON.timestamp())
    )

    assert sign(BODY, secret=SECRET, at=NOON) == theirs
    assert is_accepted(theirs)


@pytest.mark.parametrize(
    ("seconds", "accepted"),
    [(-301, False), (-299, True), (0, True), (299, True), (301, False), (86400, False)],
)
def test_time_is_five_minutes_off_at_most_either_way(seconds, accepted):
    header = sign(BODY, secret=SECRET, at=NOON + timedelta(seconds=seconds))

    assert is_accepted(header) is accepted


def test_accepts_one_of_two_signatures_while_a_secret_is_replaced():
    ours = sign(BODY, secret=SECRET, at=NOON)
    other = sign(BODY, secret="whsec_two", at=NOON).partition(",")[2]

    assert is_accepted(f"{ours},{other}")
    assert is_accepted(ours, secrets=["whsec_two", SECRET])
    assert not is_accepted(ours, secrets=["whsec_two"])


@pytest.mark.parametrize(
    "header",
    [
        pytest.param("", id="no header"),
        pytest.param("t=abc,v1=00", id="time is no number"),
        pytest.param("v1=00", id="no time"),
        pytest.param(sign(BODY, secret=SECRET, at=NOON).replace("v1", "v0"), id="v0"),
        pytest.param(sign(BODY, secret=SECRET, at=NOON) + ",t=1", id="two times"),
        pytest.param(f"t={'9' * 64},v1=00", id="time beyond all time"),
        pytest.param("t=1=2,v1==,,", id="rubbish"),
    ],
)
def test_refuses_header(header):
    assert not is_accepted(header)


def test_refuses_an_empty_secret():
    assert not is_accepted(sign(BODY, secret="", at=NOON), secrets=[""])


def test_refuses_a_changed_body():
    header = sign(BODY, secret=SECRET, at=NOON)

    assert not is_accepted(header, body=BODY.replace(b" ", b""))
