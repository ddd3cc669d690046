"""
Staff's files of prices: looked at first, saved as a whole, once.
"""

from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from djmoney.money import Money

from catalog import services as catalog_services
from catalog.models import OfferPrice, PriceFile
from tests.marketplace.prices import price_now, words
from tests.workspaces.conftest import NOON

HEAD = "supplier,gpu,region,gpus_per_node,hourly_price,currency,valid_from,reason\n"
RTX = "everxcloud,rtx-4090,eu-central-frankfurt,1"

pytestmark = pytest.mark.usefixtures("an_hour_later")


def upload(client, *rows, head=HEAD):
    content = (head + "\n".join(rows)).encode()
    return client.post(
        "/staff/prices/files/", {"file": SimpleUploadedFile("new.csv", content)}
    )


def test_a_file_is_shown_first_and_saved_then(staff_client, staff, offer):
    answer = upload(staff_client, f"{RTX},0.30,USD,,")
    page = staff_client.get(answer.url)

    assert answer.status_code == 302
    assert price_now(offer) == Money("0.33", "USD")
    assert "Changed 1" in words(page)
    assert "$0.33 $0.30 at once" in words(page)
    saved = staff_client.post(answer.url, {"digest": page.context["plan"].digest})
    assert saved.url == "/staff/prices/changes/"
    assert price_now(offer) == Money("0.30", "USD")
    assert offer.prices.get(valid_to=None).created_by == staff


def test_a_file_with_a_refused_line_cannot_be_saved(staff_client, offer):
    answer = upload(staff_client, f"{RTX},0.30,USD,,", f"{RTX},0.31,USD,,")
    page = staff_client.get(answer.url)

    assert "Line 2 sets the price of this offer already." in words(page)
    assert 'name="digest"' not in page.content.decode()
    forced = staff_client.post(answer.url, {"digest": page.context["plan"].digest})
    assert forced.status_code == 422
    assert offer.prices.count() == 1


def test_a_file_is_not_saved_if_prices_moved_since_it_was_shown(staff_client, offer):
    answer = upload(staff_client, f"{RTX},0.30,USD,,")
    digest = staff_client.get(answer.url).context["plan"].digest
    catalog_services.set_price(
        offer_id=offer.pk,
        hourly_price=Money("0.35", "USD"),
        valid_from=NOON + timedelta(minutes=30),
        actor=None,
        at=NOON + timedelta(minutes=30),
    )

    page = staff_client.post(answer.url, {"digest": digest})

    assert page.status_code == 422
    assert "have changed since" in words(page)
    assert "$0.35 $0.30" in words(page)
    assert price_now(offer) == Money("0.35", "USD")


def test_a_file_is_saved_once(staff_client, offer):
    answer = upload(staff_client, f"{RTX},0.30,USD,,")
    digest = staff_client.get(answer.url).context["plan"].digest

    answers = [staff_client.post(answer.url, {"digest": digest}) for _ in range(2)]

    assert [answer.status_code for answer in answers] == [302, 422]
    assert "applied before" in words(answers[1])
    assert offer.prices.count() == 2


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"\xff\xfe", "not UTF-8"),
        (b"supplier;gpu\n", "semicolons"),
        (HEAD.encode(), "no lines"),
    ],
)
def test_what_is_no_file_of_prices_is_not_kept(staff_client, content, why):
    page = staff_client.post(
        "/staff/prices/files/", {"file": SimpleUploadedFile("x.csv", content)}
    )

    assert page.status_code == 422
    assert why in words(page)
    assert not PriceFile.objects.exists()


def test_what_is_downloaded_can_be_read_again(staff_client, catalog):
    download = staff_client.get("/staff/prices/prices.csv")
    assert download["Content-Disposition"] == (
        'attachment; filename="prices-2026-11-30.csv"'
    )
    head, *rows = download.getvalue().decode().splitlines()

    answer = upload(staff_client, *rows, head=f"{head}\n")
    page = staff_client.get(answer.url)

    assert "there is nothing to save" in words(page)
    assert page.context["plan"].counts == {"unchanged": OfferPrice.objects.count()}
