"""
Whose top-ups and sandbox payments are whose.
"""

from uuid import uuid4

import pytest
from django.urls import reverse

from billing.models import SandboxPayment, TopUp
from tests.billing.top_up_steps import URL, confirm_url, sandbox_url

Status = TopUp.Status


NAMES = ["top_up_confirm", "top_up_status"]


@pytest.mark.parametrize("name", NAMES)
def test_top_up_of_somebody_else_does_not_exist(stranger_client, pending, name):
    url = reverse(f"billing:{name}", args=[pending.uuid])

    assert stranger_client.get(url).status_code == 404
    assert stranger_client.post(url).status_code in {404, 405}
    assert TopUp.objects.get().status == Status.PENDING


@pytest.mark.parametrize(
    "name",
    ["sandbox_pay", "sandbox_pay_now", "sandbox_decline", "sandbox_pay_later",
     "sandbox_fail_later", "sandbox_dispute", "sandbox_dispute_won",
     "sandbox_dispute_lost"],
)  # fmt: skip
def test_sandbox_payment_of_somebody_else_does_not_exist(
    stranger_client, client, pending, name
):
    url = sandbox_url(pending, name)
    method = "get" if name == "sandbox_pay" else "post"

    assert getattr(stranger_client, method)(url).status_code == 404
    assert getattr(client, method)(url).status_code == 302
    assert SandboxPayment.objects.get().state == SandboxPayment.State.OPEN


@pytest.mark.parametrize(
    "name",
    ["sandbox_pay_now", "sandbox_decline", "sandbox_pay_later", "sandbox_fail_later",
     "sandbox_dispute", "sandbox_dispute_won", "sandbox_dispute_lost"],
)  # fmt: skip
def test_sandbox_verbs_are_post_only(renter_client, pending, name):
    assert renter_client.get(sandbox_url(pending, name)).status_code == 405
    assert SandboxPayment.objects.get().state == SandboxPayment.State.OPEN


def test_sandbox_does_not_exist_where_money_is_real(renter_client, pending, settings):
    url = sandbox_url(pending)
    settings.PAYMENT_GATEWAY = "stripe"

    assert renter_client.get(url).status_code == 404


def test_unknown_sandbox_payment(renter_client, db):
    url = reverse("billing:sandbox_pay", args=[uuid4().hex])

    assert renter_client.get(url).status_code == 404


def test_sandbox_payment_without_a_top_up(renter_client, pending):
    SandboxPayment.objects.update(client_reference="not-a-uuid")

    assert renter_client.get(sandbox_url(pending)).status_code == 404


def test_pages_are_for_people_who_are_logged_in(client, pending):
    for url in (URL, confirm_url(pending), pending.get_absolute_url()):
        response = client.get(url)
        assert response.status_code == 302
        assert response.url.startswith("/account/login/")


def test_wrong_methods(renter_client, pending):
    assert renter_client.put(URL).status_code == 405
    assert renter_client.delete(confirm_url(pending)).status_code == 405
    assert renter_client.post(pending.get_absolute_url()).status_code == 405


def test_draft_is_confirmed_before_it_has_a_state(renter_client, draft):
    response = renter_client.get(draft.get_absolute_url())

    assert response.url == confirm_url(draft)
