"""
Where payouts go: what one member of staff enters another one approves.
"""

import pytest
from django.contrib.admin.models import LogEntry
from django.db import IntegrityError, transaction

from billing.models import BankAccount, Payout
from billing.services import set_bank_account
from billing.services.parties import OwnAccount, approve_bank_account
from billing.services.payouts import earnings, run_payouts
from marketplace.models import User
from tests.billing.conftest import SUPPLIER
from tests.billing.test_payouts import MONDAY, bank_account, earned  # noqa: F401

LIST = "/admin/billing/bankaccount/"
MINE = {
    "party": SUPPLIER,
    "currency": "USD",
    "holder": "Somebody else",
    "number": "DE89370400440532013000",
    "bank_code": "",
}


@pytest.fixture
def second(db):
    return User.objects.create_user("second@example.com", is_staff=True)


@pytest.fixture
def changed(staff_client, earned, bank_account):  # noqa: F811
    """
    The account of a supplier that is due money, changed by a member of staff.
    """
    answer = staff_client.post(f"{LIST}{bank_account.pk}/change/", MINE)
    assert answer.status_code == 302
    return BankAccount.objects.get()


def approve(client, account):
    data = {"action": "approve", "_selected_action": account.pk}
    return client.post(LIST, data, follow=True)


def test_nothing_is_paid_to_what_one_member_of_staff_entered(changed, staff):
    assert changed.entered_by == staff
    assert run_payouts(at=MONDAY) == []
    (own,) = earnings(at=MONDAY)
    assert (own.has_bank_account, own.is_bank_account_trusted) == (True, False)


def test_a_second_one_approves_it(changed, client, second):
    second.is_superuser = True
    second.save()
    client.force_login(second)

    for _twice in range(2):
        assert "Payouts of supplier:everxcloud USD go there." in (
            approve(client, changed).text
        )

    (payout,) = run_payouts(at=MONDAY)
    assert payout.number == MINE["number"]
    assert LogEntry.objects.filter(change_message="Approved").count() == 1


def test_nobody_approves_their_own(changed, staff_client, staff):
    page = approve(staff_client, changed)

    assert "You entered this account yourself." in page.text
    assert not LogEntry.objects.filter(change_message="Approved").exists()
    assert run_payouts(at=MONDAY) == []
    with (
        pytest.raises(IntegrityError, match="bankaccount_four_eyes"),
        transaction.atomic(),
    ):
        BankAccount.objects.update(approved_by=staff)


def test_what_is_changed_again_waits_again(changed, staff_client, staff, second):
    approve_bank_account(account_id=changed.pk, actor_id=second.pk)
    staff_client.post(f"{LIST}{changed.pk}/change/", MINE)
    assert BankAccount.objects.trusted().exists(), "nothing was changed"

    staff_client.post(f"{LIST}{changed.pk}/change/", MINE | {"holder": "A third"})

    assert run_payouts(at=MONDAY) == []
    with pytest.raises(OwnAccount):
        approve_bank_account(account_id=changed.pk, actor_id=staff.pk)


def test_what_the_supplier_writes_itself_needs_nobody(changed):
    set_bank_account(**MINE)

    run_payouts(at=MONDAY)

    assert Payout.objects.get().holder == "Somebody else"
