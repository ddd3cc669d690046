import pytest
import time_machine
from django.core.cache import cache

from tests.conftest import SIGNED_UP_AT

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _ten_seconds_into_a_minute():
    cache.clear()
    with time_machine.travel(SIGNED_UP_AT.replace(second=10), tick=False):
        yield
    cache.clear()


def test_the_form_of_a_top_up_is_taken_twenty_times_a_minute(
    renter_client, stranger_client
):
    page = "/wallet/top-up/"
    for _time in range(20):
        assert renter_client.post(page, {"amount": "x"}).status_code == 422

    refused = renter_client.post(page, {"amount": "x"})

    assert (refused.status_code, refused["Retry-After"]) == (429, "50")
    assert "You asked for this too often" in refused.text
    # Looking, and everybody else, are counted apart; so is the next minute.
    assert renter_client.get(page).status_code == 200
    assert stranger_client.post(page, {"amount": "x"}).status_code == 422
    with time_machine.travel(SIGNED_UP_AT.replace(minute=1), tick=False):
        assert renter_client.post(page, {"amount": "x"}).status_code == 422


def test_a_spoofed_address_gives_nobody_more_tries(client, renter):
    for number in range(10):
        client.post(
            "/account/login/",
            {"login": f"nobody{number}@example.com", "password": "wrong"},
            headers={"x-forwarded-for": f"192.0.2.{number}"},
        )

    refused = client.post(
        "/account/login/",
        {"login": renter.email, "password": "a long and private sentence"},
        headers={"x-forwarded-for": "192.0.2.99"},
    )

    assert refused.status_code in {200, 429}
    assert "_auth_user_id" not in client.session
