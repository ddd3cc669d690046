"""
The guide to fine-tuning: the seed pages' figures, in every language.
"""

from datetime import timedelta

import pytest
import time_machine
from djmoney.money import Money

from catalog.models import Offer, Workload, WorkloadText
from catalog.services import confirm_prices_of, set_price
from tests.catalog.pages import tables_of, text_of

PATHS = {
    "en": "/workloads/fine-tuning/",
    "es": "/es/workloads/fine-tuning/",
    "id": "/id/workloads/fine-tuning/",
}

# The table of the seed pages: in es the spaces within figures are no-break ones.
ENGLISH = """
RTX 4090 Ada Lovelace | 24 GB | 1,008 GB/s | ≈ 15B | ≈ 7B | $0.33
RTX 5090 Blackwell | 32 GB | 1,792 GB/s | ≈ 25B | ≈ 10B | $0.69
RTX A6000 Ampere | 48 GB | 768 GB/s | ≈ 35B | ≈ 15B | $0.33
L40S Ada Lovelace | 48 GB | 864 GB/s | ≈ 35B | ≈ 15B | $0.79
RTX 6000 Ada Ada Lovelace | 48 GB | 960 GB/s | ≈ 35B | ≈ 15B | $0.74
A100 SXM Ampere | 80 GB | 2,039 GB/s | ≈ 60B | ≈ 25B | $1.79
H100 SXM Hopper | 80 GB | 3,350 GB/s | ≈ 60B | ≈ 25B | $2.88
RTX PRO 6000 Blackwell Blackwell | 96 GB | 1,792 GB/s | ≈ 75B | ≈ 30B | $1.69
H200 Hopper | 141 GB | 4,800 GB/s | ≈ 110B | ≈ 45B | $4.19
"""
SPANISH = """
RTX 4090 Ada Lovelace | 24 GB | 1008 GB/s | ≈ 15 mil M | ≈ 7 mil M | 0,33 US$
RTX 5090 Blackwell | 32 GB | 1792 GB/s | ≈ 25 mil M | ≈ 10 mil M | 0,69 US$
RTX A6000 Ampere | 48 GB | 768 GB/s | ≈ 35 mil M | ≈ 15 mil M | 0,33 US$
L40S Ada Lovelace | 48 GB | 864 GB/s | ≈ 35 mil M | ≈ 15 mil M | 0,79 US$
RTX 6000 Ada Ada Lovelace | 48 GB | 960 GB/s | ≈ 35 mil M | ≈ 15 mil M | 0,74 US$
A100 SXM Ampere | 80 GB | 2039 GB/s | ≈ 60 mil M | ≈ 25 mil M | 1,79 US$
H100 SXM Hopper | 80 GB | 3350 GB/s | ≈ 60 mil M | ≈ 25 mil M | 2,88 US$
RTX PRO 6000 Blackwell Blackwell | 96 GB | 1792 GB/s | ≈ 75 mil M | ≈ 30 mil M | 1,69 US$
H200 Hopper | 141 GB | 4800 GB/s | ≈ 110 mil M | ≈ 45 mil M | 4,19 US$
"""
INDONESIAN = """
RTX 4090 Ada Lovelace | 24 GB | 1.008 GB/s | ≈ 15B | ≈ 7B | US$0,33
RTX 5090 Blackwell | 32 GB | 1.792 GB/s | ≈ 25B | ≈ 10B | US$0,69
RTX A6000 Ampere | 48 GB | 768 GB/s | ≈ 35B | ≈ 15B | US$0,33
L40S Ada Lovelace | 48 GB | 864 GB/s | ≈ 35B | ≈ 15B | US$0,79
RTX 6000 Ada Ada Lovelace | 48 GB | 960 GB/s | ≈ 35B | ≈ 15B | US$0,74
A100 SXM Ampere | 80 GB | 2.039 GB/s | ≈ 60B | ≈ 25B | US$1,79
H100 SXM Hopper | 80 GB | 3.350 GB/s | ≈ 60B | ≈ 25B | US$2,88
RTX PRO 6000 Blackwell Blackwell | 96 GB | 1.792 GB/s | ≈ 75B | ≈ 30B | US$1,69
H200 Hopper | 141 GB | 4.800 GB/s | ≈ 110B | ≈ 45B | US$4,19
"""


@pytest.fixture(autouse=True)
def _at_noon(now):
    with time_machine.travel(now, tick=False):
        yield


def seed_rows(table, first_words=""):
    rows = [line.split(" | ") for line in table.strip().splitlines()]
    return [[*cells[:-1], f"{first_words}{cells[-1]}"] for cells in rows]


def shown_rows(page, *, is_exact=False):
    rows = tables_of(page)[0]
    # After the seed's columns comes who asks the price, and as of when.
    plain = [row[:6] for row in rows]
    if is_exact:
        return plain
    # The word before the price is left to the translation, the figure is not.
    return [
        [*row[:-1], row[-1].removeprefix(row[-1].split(" ")[0]).strip()]
        for row in plain
    ]


@pytest.mark.parametrize(
    ("language", "table"), [("en", ENGLISH), ("es", SPANISH), ("id", INDONESIAN)]
)
def test_shows_the_seed_table_with_exactly_its_nine_rows(
    catalog, client, language, table
):
    page = client.get(PATHS[language])

    assert shown_rows(page) == seed_rows(table)


@pytest.mark.parametrize(
    ("language", "table", "word"),
    [
        ("en", ENGLISH, "from "),
        ("es", SPANISH, "desde "),
        ("id", INDONESIAN, "mulai "),
    ],
)
def test_says_that_prices_are_the_lowest(catalog, client, language, table, word):
    page = client.get(PATHS[language])

    assert shown_rows(page, is_exact=True) == seed_rows(table, word)


def test_says_who_asks_each_price_and_since_when_that_is_true(catalog, client):
    rows = tables_of(client.get(PATHS["en"]))[0]

    assert {row[6] for row in rows} == {"EverXCloud, as of Nov 30, 2026"}, "R11"


def test_spaces_within_spanish_figures_do_not_break(catalog, client):
    source = client.get(PATHS["es"]).content.decode()

    assert "≈ 15\u00a0mil\u00a0M" in source
    assert "0,33\u00a0US$" in source
    assert "24\u00a0GB" in source


@pytest.mark.parametrize(
    ("language", "example", "best"),
    [
        ("en", ["$2.72", "$13.60", "$40.80"], ["$2.64", "$13.20", "$39.60"]),
        (
            "es",
            ["2,72 US$", "13,60 US$", "40,80 US$"],
            ["2,64 US$", "13,20 US$", "39,60 US$"],
        ),
        (
            "id",
            ["US$2,72", "US$13,60", "US$40,80"],
            ["US$2,64", "US$13,20", "US$39,60"],
        ),
    ],
)
def test_shows_the_windows_of_the_rtx_4090(catalog, client, language, example, best):
    text = text_of(client.get(PATHS[language]))

    for price in [*example, *best]:
        assert price in text


def test_says_whose_price_the_windows_are_worked_on_and_how_old_it_is(catalog, client):
    text = text_of(client.get(PATHS["en"]))

    assert "Worked on GPURento's price of $0.34" in text
    assert "not confirmed since September 1, 2026" in text
    assert (
        "At the best live ask, $0.33 from EverXCloud as of November 30, 2026, it would cost:"
        in text
    )
    assert "compute only" in text


def test_a_confirmed_price_of_the_example_is_no_longer_marked(catalog, client, now):
    confirm_prices_of(supplier_slug="gpurento", at=now)

    text = text_of(client.get(PATHS["en"]))

    assert "not confirmed since" not in text
    assert "from $2.69" in text, "GPURento's H100 is the best live ask now"


def test_a_new_price_is_shown_at_once(catalog, client, now):
    offer = Offer.objects.get(supplier__slug="everxcloud", gpu__slug="rtx-4090")
    set_price(
        offer_id=offer.pk,
        hourly_price=Money("0.29", "USD"),
        valid_from=now + timedelta(seconds=1),
        actor=None,
        at=now,
    )

    assert shown_rows(client.get(PATHS["en"]))[0][-1] == "$0.33"
    with time_machine.travel(now + timedelta(seconds=1), tick=False):
        assert shown_rows(client.get(PATHS["en"]))[0][-1] == "$0.29"


def test_has_no_from_price_without_a_live_ask(catalog, client, now):
    Offer.objects.filter(gpu__slug="h200").update(free_nodes=0)

    row = tables_of(client.get(PATHS["en"]))[0][-1]

    assert row[0] == "H200 Hopper"
    assert row[5] == "no live ask"


FACTS = {
    "en": [
        "trains small adapters on top of a frozen base model",
        "about 2 bytes a parameter",
        "about 16 bytes a parameter",
        "Cost to an accepted checkpoint",
        "Pin the revision of the base model",
        "Do not pay to keep a GPU idle",
        "Uploading sensitive data without access controls",
        "merchant of record",
        "Which GPU do I need to fine-tune a 7B model?",
        "A100 or H100 for fine-tuning?",
        "Reviewed by Corehour catalog desk on November 30, 2026.",
        "80 GB HBM2e. Training, fine-tuning and HPC",
        "EU West · Paris; EU Central · Frankfurt",
        "that count 80% of the memory",
    ],
    "es": [
        "unos 2 bytes por parámetro",
        "unos 16 bytes por parámetro",
        "Coste hasta un checkpoint aceptado",
        "¿A100 o H100 para el ajuste fino?",
        "30 de noviembre de 2026",
        "Entrenamiento, ajuste fino y HPC",
    ],
    "id": [
        "sekitar 2 byte per parameter",
        "sekitar 16 byte per parameter",
        "Biaya sampai checkpoint diterima",
        "A100 atau H100 untuk fine-tuning?",
        "30 November 2026",
        "Pelatihan, fine-tuning, dan HPC",
    ],
}


@pytest.mark.parametrize("language", FACTS)
def test_tells_the_facts_of_the_seed_pages(catalog, client, language):
    text = text_of(client.get(PATHS[language]))

    assert [fact for fact in FACTS[language] if fact not in text] == []


def test_links_its_sources(catalog, client):
    source = client.get(PATHS["en"]).content.decode()

    for link in [
        "https://www.nvidia.com/en-us/data-center/a100/",
        "https://arxiv.org/abs/2305.14314",
    ]:
        assert f'href="{link}"' in source


def test_falls_back_to_english(catalog, client):
    WorkloadText.objects.get(workload__slug="fine-tuning", language="id").delete()

    page = client.get(PATHS["id"])

    assert "GPUs for fine-tuning open models" in text_of(page)
    assert page.status_code == 200


def test_is_listed_among_the_workloads(catalog, client):
    for language, title in [
        ("en", "GPUs for fine-tuning open models"),
        ("es", "GPU para el ajuste fino de modelos abiertos"),
    ]:
        prefix = "" if language == "en" else f"/{language}"
        page = client.get(f"{prefix}/workloads/")
        assert title in text_of(page)
        assert f'href="{prefix}/workloads/fine-tuning/"' in page.content.decode()


def test_is_not_found_before_it_is_published(catalog, client):
    Workload.objects.update(is_published=False)

    assert client.get(PATHS["en"]).status_code == 404
    assert "No guide is published yet." in text_of(client.get("/workloads/"))


def test_is_not_found_under_another_name(catalog, client):
    assert client.get("/workloads/knitting/").status_code == 404
