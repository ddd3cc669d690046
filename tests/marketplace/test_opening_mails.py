"""
How the opening went: one mail for each account, once, in the reader's language.
"""

from datetime import timedelta
from decimal import Decimal

import pytest
from post_office.models import Email

from catalog.models import Offer
from marketplace import services
from marketplace.models import SupplierMember
from tests.workspaces.conftest import NOON, pay_in
from workspaces.services import cancel_workspace

pytestmark = pytest.mark.django_db

MINUTE = timedelta(minutes=1)


def send(at=NOON + MINUTE):
    return services.send_opening_mails(at=at)


def act_for(person, offer):
    SupplierMember.objects.create(
        supplier=offer.supplier,
        user=person,
        email=person.email,
        role=SupplierMember.Role.OWNER,
        invited_at=NOON,
        joined_at=NOON,
    )


def test_tells_nobody_before_the_whole_book_was_matched(funded):
    services.open_doors(actor=None, at=NOON)

    assert send() == 0
    assert not Email.objects.exists()


def test_tells_a_renter_what_matched_and_what_waits(make_funded, offer, open_market):
    make_funded(wanted_limit=Decimal("0.40"))
    make_funded(wanted_limit=Decimal("0.30"))
    make_funded(wanted_limit=Decimal("0.32"))
    open_market()

    assert send() == 1

    mail = Email.objects.get()
    assert mail.to == ["renter@example.com"]
    assert mail.subject == "The market is open: 1 of your 3 requests got a node"
    assert (
        "it got a node in EU Central · Frankfurt at $0.33 per GPU-hour; your limit was $0.40."
        in mail.message
    )
    assert "it waits in place 1 of 2." in mail.message
    assert "it waits in place 2 of 2." in mail.message
    assert mail.message.count("asks $0.33 per GPU-hour") == 2
    assert "your limit is $0.32" in mail.message
    assert "cancel the request: the whole hold is back at once" in mail.message
    assert "/workspaces/" in mail.message


def test_is_sent_once(funded, open_market):
    open_market()

    assert send() == 1
    assert send(NOON + 2 * MINUTE) == 0
    assert Email.objects.count() == 1


def test_tells_one_person_as_renter_and_as_supplier_in_one_mail(
    make_funded, offer, open_market, rich_renter, stranger
):
    """
    The stranger supplies the nodes; the renter supplies nothing and is told so once.
    """
    act_for(stranger, offer)
    pay_in(stranger, "100")
    make_funded()
    make_funded(user=stranger, wanted_limit=Decimal("0.30"))
    open_market()

    assert send() == 2

    mail = Email.objects.get(to="stranger@example.com")
    assert mail.subject == "The market is open: 0 of your 1 requests got a node"
    own = "Your RTX 4090 in EU Central · Frankfurt at $0.33: 1 node is rented, 11 are free."
    assert own in mail.message
    assert own not in Email.objects.get(to="renter@example.com").message


def test_a_supplier_alone_gets_its_own_subject(funded, offer, open_market, stranger):
    act_for(stranger, offer)
    open_market()

    send()

    mail = Email.objects.get(to="stranger@example.com")
    assert mail.subject == "The market is open: 1 of your nodes is rented"
    assert "/supplier/" in mail.message


def test_says_that_no_node_is_free(make_funded, offer, open_market):
    make_funded(wanted_limit=Decimal("0.32"))
    Offer.objects.update(free_nodes=0)
    open_market()

    send()

    assert "No node for it is free now." in Email.objects.get().message


@pytest.mark.parametrize(
    ("language", "price"), [("es", "0,33\xa0US$"), ("id", "US$0,33")]
)
def test_is_in_the_language_of_the_reader(
    funded, open_market, rich_renter, language, price
):
    rich_renter.language = language
    rich_renter.save()
    open_market()

    send()

    assert price in Email.objects.get().message
    assert f"/{language}/workspaces/" in Email.objects.get().message


def test_leaves_out_who_took_no_part(funded, open_market, stranger, make_funded):
    cancel_workspace(workspace_id=funded.pk, actor=funded.user, at=NOON)
    open_market()

    assert send() == 0


def test_tells_nobody_of_an_opening_long_ago(funded, open_market):
    open_market()

    assert send(NOON + timedelta(days=7)) == 0
