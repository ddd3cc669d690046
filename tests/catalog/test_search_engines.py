"""
What search engines and link previews are told.
"""

import json
import re
import struct
import xml.etree.ElementTree as ET
from datetime import timedelta

import pytest
import time_machine
from djmoney.money import Money

from catalog.cards import Card, draw
from catalog.models import Offer, Workload, WorkloadText
from catalog.services import set_price
from tests.catalog.test_guide_pages import EVERY_PAGE, path_of

SITE = "https://corehour.example"
NAMES = {
    "s": "http://www.sitemaps.org/schemas/sitemap/0.9",
    "x": "http://www.w3.org/1999/xhtml",
}


@pytest.fixture(autouse=True)
def _site(now, settings):
    settings.SITE_URL = SITE
    with time_machine.travel(now, tick=False):
        yield


def described(page):
    found = re.search(
        r'<script type="application/ld\+json">(.*?)</script>',
        page.content.decode(),
        re.DOTALL,
    )
    return json.loads(found[1])


def kinds(data):
    return {part["@type"]: part for part in data["@graph"]}


@pytest.mark.parametrize(("slug", "language"), EVERY_PAGE)
def test_a_guide_describes_itself(catalog, client, slug, language):
    text = WorkloadText.objects.get(workload__slug=slug, language=language)

    parts = kinds(described(client.get(path_of(slug, language))))

    article = parts["TechArticle"]
    assert article["headline"] == text.title
    assert article["inLanguage"] == language
    assert article["url"] == f"{SITE}{path_of(slug, language)}"
    questions = text.blocks.filter(kind="QUESTION").order_by("position")
    assert [
        (entry["name"], entry["acceptedAnswer"]["text"])
        for entry in parts["FAQPage"]["mainEntity"]
    ] == list(questions.values_list("title", "body"))
    assert len(parts["ItemList"]["itemListElement"]) == 4


def test_products_carry_the_live_prices(catalog, client):
    parts = kinds(described(client.get(path_of("fine-tuning"))))

    offers = {
        entry["item"]["name"]: entry["item"].get("offers")
        for entry in parts["ItemList"]["itemListElement"]
    }
    (offer,) = offers["NVIDIA GeForce RTX 4090"]
    assert (offer["price"], offer["priceCurrency"]) == ("0.33", "USD")
    assert offer["priceSpecification"]["unitCode"] == "HUR"
    assert offer["priceSpecification"]["valueAddedTaxIncluded"] is False
    assert offer["availability"] == "https://schema.org/InStock"
    assert offer["seller"]["name"] == "EverXCloud"
    assert offers["NVIDIA H100 SXM5 80GB"][0]["price"] == "2.88"
    # GPURento's price is stale, and nobody else has the card.
    assert offers["NVIDIA A100 PCIe 80GB"] is None


def test_a_price_keeps_all_its_decimals(catalog, client, now):
    offer = Offer.objects.get(supplier__slug="everxcloud", gpu__slug="rtx-4090")
    offer.free_nodes = 2
    offer.save()
    set_price(
        offer_id=offer.pk,
        hourly_price=Money("0.3375", "USD"),
        valid_from=now + timedelta(seconds=1),
        actor=None,
        at=now,
    )

    with time_machine.travel(now + timedelta(seconds=1), tick=False):
        parts = kinds(described(client.get(path_of("fine-tuning"))))

    (found,) = parts["ItemList"]["itemListElement"][0]["item"]["offers"]
    assert found["price"] == "0.3375"
    assert found["availability"] == "https://schema.org/LimitedAvailability"


@pytest.mark.parametrize(
    ("prefix", "locale", "others"),
    [
        ("", "en_US", ["es_ES", "id_ID"]),
        ("/es", "es_ES", ["en_US", "id_ID"]),
        ("/id", "id_ID", ["en_US", "es_ES"]),
    ],
)
def test_links_its_languages_and_its_picture(catalog, client, prefix, locale, others):
    source = client.get(f"{prefix}/workloads/inference/?requests=3").content.decode()

    assert (
        f'<link rel="canonical" href="{SITE}{prefix}/workloads/inference/">' in source
    )
    assert dict(
        re.findall(r'rel="alternate" hreflang="([\w-]+)" href="([^"]+)"', source)
    ) == {
        "en": f"{SITE}/workloads/inference/",
        "es": f"{SITE}/es/workloads/inference/",
        "id": f"{SITE}/id/workloads/inference/",
        "x-default": f"{SITE}/workloads/inference/",
    }
    assert f'property="og:locale" content="{locale}"' in source
    assert re.findall(r'og:locale:alternate" content="(\w+)"', source) == others
    picture = f"{SITE}{prefix}/workloads/inference/card.png"
    assert f'property="og:image" content="{picture}"' in source
    language = prefix.strip("/") or "en"
    text = WorkloadText.objects.get(workload__slug="inference", language=language)
    assert f'<meta name="description" content="{text.summary}">' in source


def test_pages_of_one_person_are_not_for_search_engines(catalog, renter_client):
    source = renter_client.get("/dashboard/").content.decode()

    assert '<meta name="robots" content="noindex">' in source
    assert 'rel="canonical"' not in source


def test_sitemap_lists_public_pages_in_every_language(catalog, client):
    answer = client.get("/sitemap.xml")

    assert answer["Content-Type"] == "application/xml"
    urls = ET.fromstring(answer.content).findall("s:url", NAMES)
    pages = {url.findtext("s:loc", namespaces=NAMES): url for url in urls}
    for slug, language in EVERY_PAGE:
        assert f"{SITE}{path_of(slug, language)}" in pages
    for page in ["/", "/es/", "/id/planner/", "/gpus/h200/", "/es/gpus/h200/"]:
        assert f"{SITE}{page}" in pages
    assert not [page for page in pages if "/staff/" in page or "/wallet/" in page]
    spanish = pages[f"{SITE}/es/workloads/inference/"]
    assert {
        link.get("hreflang"): link.get("href")
        for link in spanish.findall("x:link", NAMES)
    } == {
        "en": f"{SITE}/workloads/inference/",
        "es": f"{SITE}/es/workloads/inference/",
        "id": f"{SITE}/id/workloads/inference/",
        "x-default": f"{SITE}/workloads/inference/",
    }
    assert spanish.findtext("s:lastmod", namespaces=NAMES) == "2026-11-30"


def test_every_page_of_the_sitemap_is_there(catalog, client):
    answer = client.get("/sitemap.xml")

    for url in ET.fromstring(answer.content).findall("s:url", NAMES):
        page = url.findtext("s:loc", namespaces=NAMES).removeprefix(SITE)
        assert client.get(page).status_code == 200, page


def test_sitemap_leaves_out_what_is_not_published(catalog, client):
    Workload.objects.filter(slug="inference").update(is_published=False)

    assert "/workloads/inference/" not in client.get("/sitemap.xml").content.decode()


def test_robots_are_shown_the_sitemap_and_kept_from_private_pages(client, db):
    answer = client.get("/robots.txt")

    lines = answer.content.decode().splitlines()
    assert answer["Content-Type"] == "text/plain; charset=utf-8"
    assert lines[0] == "User-agent: *"
    for closed in ["/account/", "/es/account/", "/id/staff/", "/admin/"]:
        assert f"Disallow: {closed}" in lines
    assert lines[-1] == f"Sitemap: {SITE}/sitemap.xml"


def size_of(png):
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    return struct.unpack(">II", png[16:24])


@pytest.mark.parametrize(
    "path",
    [
        "/workloads/fine-tuning/card.png",
        "/es/workloads/fine-tuning/card.png",
        "/gpus/rtx-4090/card.png",
        "/gpus/b300/card.png",
    ],
)
def test_pictures_are_drawn_once_and_then_known(catalog, client, path):
    first = client.get(path)

    assert first["Content-Type"] == "image/png"
    assert size_of(first.content) == (1200, 630)
    assert len(first.content) < 60_000
    assert "max-age=3600" in first["Cache-Control"]
    again = client.get(path, headers={"if-none-match": first["ETag"]})
    assert again.status_code == 304
    assert again.content == b""


def test_a_picture_changes_with_language_and_price(catalog, client, now):
    english = client.get("/workloads/fine-tuning/card.png")
    spanish = client.get("/es/workloads/fine-tuning/card.png")
    offer = Offer.objects.filter(supplier__slug="gpurento", gpu__slug="rtx-4090")
    for one in offer:
        set_price(
            offer_id=one.pk,
            hourly_price=Money("0.30", "USD"),
            valid_from=now,
            actor=None,
            at=now,
        )
    dearer = client.get("/workloads/fine-tuning/card.png")

    etags = {answer["ETag"] for answer in [english, spanish, dearer]}
    assert len(etags) == 3
    known = {"if-none-match": english["ETag"]}
    assert (
        client.get("/workloads/fine-tuning/card.png", headers=known).status_code == 200
    )


def test_there_is_no_picture_of_what_is_not_there(catalog, client):
    assert client.get("/workloads/knitting/card.png").status_code == 404
    assert client.get("/gpus/knitting/card.png").status_code == 404


@pytest.mark.parametrize(
    "title",
    ["GPU", "¿Añadir? " * 12, "Donaudampfschifffahrtsgesellschaftskapitän" * 3],
)
def test_any_title_is_drawn(title):
    card = Card(site="Corehour", kicker="≈", title=title, figures=())

    assert size_of(draw(card)) == (1200, 630)


def test_a_gpu_describes_its_offers(catalog, client):
    data = described(client.get("/gpus/h100-pcie/"))

    assert data["@type"] == "Product"
    assert data["url"] == f"{SITE}/gpus/h100-pcie/"
    assert [(offer["price"], offer["areaServed"]) for offer in data["offers"]] == [
        ("2.49", "EU West"),
        ("2.55", "EU Central"),
    ]


@pytest.mark.parametrize("prefix", ["", "/es", "/id"])
@pytest.mark.parametrize(
    "path", ["/", "/planner/", "/gpus/", "/gpus/h200/", "/workloads/", "/market/"]
)
def test_public_pages_say_what_they_are(catalog, client, path, prefix):
    source = client.get(f"{prefix}{path}").content.decode()

    assert source.count('<meta name="description" content="') == 1
    assert source.count('<meta property="og:title" content="') == 1
    assert f'<link rel="canonical" href="{SITE}{prefix}{path}">' in source
