"""
The mail that a GPU is back: once, in the reader's language, with a way to stop it.
"""

from datetime import timedelta

import pytest
from django.core.management import call_command
from post_office.models import Email

from catalog import services as catalog_services
from catalog.models import Offer, StockAlert
from marketplace.stock_mails import send_stock_alerts
from tests.workspaces.conftest import NOON


@pytest.fixture
def gone(offer):
    Offer.objects.filter(pk=offer.pk).update(free_nodes=0)
    return offer


@pytest.fixture
def alert(gone, renter):
    return catalog_services.ask_for_alert(
        user_id=renter.pk, gpu_id=gone.gpu_id, region_id=gone.region_id, at=NOON
    )


def come_back(offer):
    catalog_services.return_node(offer_id=offer.pk, at=NOON)


def test_is_sent_once_for_a_return(alert, gone):
    assert send_stock_alerts(at=NOON) == 0
    come_back(gone)

    assert send_stock_alerts(at=NOON) == 1
    assert send_stock_alerts(at=NOON + timedelta(minutes=1)) == 0

    mail = Email.objects.get()
    assert mail.to == ["renter@example.com"]
    assert mail.subject == "RTX 4090 is back in Frankfurt"
    assert "from $0.33 per GPU-hour, ex tax, at EverXCloud." in mail.message
    assert "1 node is free now. This e-mail reserves none" in mail.message
    assert "/gpus/rtx-4090/" in mail.message


@pytest.mark.parametrize("language", ["en", "es", "id"])
def test_is_in_the_language_of_the_reader(alert, gone, renter, language):
    renter.language = language
    renter.save()
    come_back(gone)

    send_stock_alerts(at=NOON)

    prefix = "" if language == "en" else f"/{language}"
    assert f"{prefix}/gpus/rtx-4090/" in Email.objects.get().message
    assert {"en": "$0.33", "es": "0,33\xa0US$", "id": "US$0,33"}[
        language
    ] in Email.objects.get().message


def test_can_be_stopped_by_one_click(alert, gone, client):
    come_back(gone)
    send_stock_alerts(at=NOON)

    mail = Email.objects.get()
    path = f"/availability/alerts/{alert.pk}/stop/"
    assert path in mail.message
    assert mail.headers["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert mail.headers["List-Unsubscribe"].endswith(f"{path}>")
    client.post(path, {"List-Unsubscribe": "One-Click"})
    assert not StockAlert.objects.exists()


def test_a_mail_that_cannot_be_written_leaves_the_alert_waiting(
    alert, gone, monkeypatch
):
    def fail(*args, **kwargs):
        raise RuntimeError

    come_back(gone)
    with monkeypatch.context() as broken:
        broken.setattr("marketplace.stock_mails.queue_mail", fail)
        with pytest.raises(RuntimeError):
            send_stock_alerts(at=NOON)

    assert send_stock_alerts(at=NOON) == 1


def test_command_says_how_many(alert, gone, capsys, monkeypatch):
    monkeypatch.setattr("clock.now", lambda: NOON)
    come_back(gone)

    call_command("send_stock_alerts")

    assert capsys.readouterr().out == "Stock alerts: 1.\n"
