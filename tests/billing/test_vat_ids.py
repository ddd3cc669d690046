"""
VAT numbers: valid, invalid, or could not be checked.
"""

from datetime import timedelta

import pytest
from djmoney.money import Money

import clock
from billing import tasks, vies
from billing.models import BillingProfile, TopUp
from billing.services.profiles import check_vat_id, check_vat_ids, save_profile
from billing.tax import IdStatus
from tests.billing import provider
from tests.billing.conftest import NOON, make_wallet
from tests.billing.stub_server import stub_server
from tests.billing.top_up_steps import BUSINESS, FILLED, URL, confirm_url, page_text

NUMBER = "FR61954506077"
VALID = (200, {"isValid": True, "userError": "VALID"})
INVALID = (200, {"isValid": False, "userError": "INVALID"})
DOWN = (200, {"isValid": False, "userError": "MS_UNAVAILABLE"})
DAY = timedelta(days=1)


@pytest.fixture
def register(settings):
    with stub_server() as stub:
        settings.VIES_URL = stub.url
        yield stub


@pytest.fixture
def eur(db):
    return make_wallet(currency="EUR")


@pytest.fixture
def profile(eur):
    return save_profile(
        user_id=eur.user_id,
        country="FR",
        is_business=True,
        vat_id=NUMBER,
        name="Ma Société",
        address="1 rue A, Paris",
    )


def check(at=NOON):
    check_vat_id(user_id=BillingProfile.objects.get().user_id, at=at)
    return BillingProfile.objects.get().vat_id_status


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        pytest.param(VALID, IdStatus.VALID, id="valid"),
        pytest.param(INVALID, IdStatus.INVALID, id="invalid"),
        pytest.param(DOWN, IdStatus.UNCHECKED, id="M70 member state down"),
        pytest.param((500, {}), IdStatus.UNCHECKED, id="M70 register down"),
        pytest.param((302, VALID[1]), IdStatus.UNCHECKED, id="redirect"),
        pytest.param((200, []), IdStatus.UNCHECKED, id="array"),
        pytest.param((200, b"<html>"), IdStatus.UNCHECKED, id="not JSON"),
        pytest.param((None, None), IdStatus.UNCHECKED, id="M70 no answer"),
    ],
)
def test_register_has_three_answers(register, answer, status):
    register.answers = [answer]

    assert vies.ask(NUMBER) == status
    assert register.asked[0][0] == "/ms/FR/vat/61954506077"


def test_without_a_register_nothing_is_known(settings):
    settings.VIES_URL = ""

    assert vies.ask(NUMBER) == IdStatus.UNCHECKED


def test_answer_is_kept_and_not_asked_for_again(register, profile):
    register.answers = [VALID]

    assert check() == IdStatus.VALID
    assert check(NOON + 24 * DAY) == IdStatus.VALID

    assert len(register.asked) == 1


def test_m70_answer_that_is_too_old_does_not_count(register, profile, eur):
    register.answers = [VALID, DOWN]
    check()
    assert check(NOON + 26 * DAY) == IdStatus.VALID

    fresh = provider.start_top_up(
        user_id=eur.user_id, net=Money(100, "EUR"), email="a@example.com",
        language="en", at=NOON + 30 * DAY,
    )  # fmt: skip
    stale = provider.start_top_up(
        user_id=eur.user_id, net=Money(100, "EUR"), email="a@example.com",
        language="en", at=NOON + 31 * DAY,
    )  # fmt: skip

    assert (fresh.vat, fresh.is_vat_pending) == (Money(0, "EUR"), False)
    assert (stale.vat, stale.is_vat_pending) == (Money(20, "EUR"), True)


def test_no_answer_is_asked_for_again_in_ten_minutes(register, profile):
    register.answers = [DOWN]
    check()
    check(NOON + timedelta(minutes=9))
    assert len(register.asked) == 1

    check(NOON + timedelta(minutes=10))

    assert len(register.asked) == 2


def test_invalid_number_is_not_asked_about_for_ever(register, profile):
    register.answers = [INVALID]
    check()

    assert check_vat_ids(at=NOON + 60 * DAY) == 0
    assert check(NOON + 60 * DAY) == IdStatus.INVALID
    assert len(register.asked) == 1


def test_other_number_starts_anew(register, profile, eur):
    register.answers = [INVALID, VALID]
    check()

    save_profile(
        user_id=eur.user_id, country="DE", is_business=True, vat_id="DE136695976",
        name="Firma", address="Berlin",
    )  # fmt: skip

    assert BillingProfile.objects.get().vat_id_status == IdStatus.UNCHECKED
    assert check() == IdStatus.VALID


def test_number_changed_while_asking_keeps_no_foreign_answer(
    register, profile, monkeypatch
):
    def change(vat_id):
        BillingProfile.objects.update(vat_id="FR00000000000")
        return IdStatus.VALID

    monkeypatch.setattr(vies, "ask", change)

    assert check() == IdStatus.UNCHECKED


def test_task_asks_about_what_is_due(register, profile):
    register.answers = [VALID]

    tasks.check_vat_ids()

    assert BillingProfile.objects.get().vat_id_status == IdStatus.VALID
    assert check_vat_ids(at=clock.now() + 26 * DAY) == 1


def test_nobody_to_ask_about(eur):
    check_vat_id(user_id=eur.user_id, at=NOON)

    assert check_vat_ids(at=NOON) == 0


@pytest.mark.parametrize(
    ("answer", "vat", "message"),
    [
        (VALID, "0.00", "Reverse charge"),
        (INVALID, "20.00", "says that FR61954506077 is not in use"),
        (DOWN, "20.00", "could not be checked yet"),
    ],
)
def test_top_up_asks_before_it_quotes(register, renter_client, answer, vat, message):
    register.answers = [answer]

    renter_client.post(URL, FILLED | BUSINESS | {"vat_id": NUMBER})

    top_up = TopUp.objects.get()
    assert top_up.vat == Money(vat, "EUR")
    assert message in page_text(renter_client.get(confirm_url(top_up)))
