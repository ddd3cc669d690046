"""
All six guides in all three languages: each has every part, in its own language.
"""

import pytest
import time_machine

from catalog.models import Offer, Workload, WorkloadBlock, WorkloadText
from tests.catalog.pages import tables_of, text_of
from tests.catalog.test_pages import crowd, queries_of  # noqa: F401

SLUGS = [
    "fine-tuning",
    "llm-training",
    "inference",
    "image-and-video",
    "3d-rendering",
    "scientific-computing",
]
LANGUAGES = ["en", "es", "id"]
EVERY_PAGE = [(slug, language) for slug in SLUGS for language in LANGUAGES]


@pytest.fixture(autouse=True)
def _at_noon(now):
    with time_machine.travel(now, tick=False):
        yield


def path_of(slug, language="en"):
    prefix = "" if language == "en" else f"/{language}"
    return f"{prefix}/workloads/{slug}/"


def plain(text):
    return text.replace("\u00a0", " ")


def test_there_are_six_in_the_order_of_the_seed_pages(catalog):
    assert (
        list(Workload.objects.order_by("position").values_list("slug", flat=True))
        == SLUGS
    )


@pytest.mark.parametrize(("slug", "language"), EVERY_PAGE)
def test_has_every_part(catalog, client, slug, language):
    text = WorkloadText.objects.get(
        workload__slug=slug, language=language, is_published=True
    )
    pieces = {
        kind: list(text.blocks.filter(kind=kind).order_by("position"))
        for kind in WorkloadBlock.Kind.values
    }

    page = client.get(path_of(slug, language))

    shown = text_of(page)
    assert plain(text.title) in shown
    assert len(pieces["STEP"]) == 3
    for kind, least in {
        "TOPIC": 3,
        "DECISION": 4,
        "BEST_FOR": 3,
        "NOT_FOR": 3,
        "SHORTLIST": 4,
        "QUESTION": 5,
        "SOURCE": 5,
    }.items():
        assert len(pieces[kind]) >= least, kind
    for block in text.blocks.exclude(kind__in=["STEP", "QUESTION"]):
        assert plain(block.title) in shown
        assert plain(block.body) in shown
        assert plain(block.note) in shown
    for sentence in [text.lead, *text.answer.strip().split("\n\n")]:
        assert plain(" ".join(sentence.split())) in shown
    source = page.content.decode()
    for block in pieces["SOURCE"]:
        assert f'href="{block.url}"' in source
    assert plain(text.reviewed_by) in shown
    assert "/account/signup/" in source
    assert '/supplier/apply/">' in source


@pytest.mark.parametrize("slug", SLUGS)
def test_no_sentence_is_left_in_another_language(catalog, slug):
    said = {}
    for language in LANGUAGES:
        text = WorkloadText.objects.get(workload__slug=slug, language=language)
        said[language] = {text.title, text.summary, text.lead, text.answer}
        for block in text.blocks.all():
            # Names of cards and papers are the same everywhere.
            is_name = block.kind in {"SOURCE", "DECISION"} and len(block.title) < 120
            texts = {block.body, block.note} if is_name else {block.title, block.body}
            said[language] |= {words for words in texts if len(words.split()) > 5}

    assert said["en"] & said["es"] == set()
    assert said["en"] & said["id"] == set()
    assert said["es"] & said["id"] == set()


@pytest.mark.parametrize("slug", SLUGS)
def test_compares_the_same_in_every_language(catalog, slug):
    shapes, gpus, links = [], [], []
    for language in LANGUAGES:
        text = WorkloadText.objects.get(workload__slug=slug, language=language)
        blocks = text.blocks.order_by("kind", "position")
        shapes.append([(block.kind, block.position) for block in blocks])
        gpus.append([block.gpu_id for block in blocks])
        links.append([block.url for block in blocks])

    assert shapes[0] == shapes[1] == shapes[2]
    assert gpus[0] == gpus[1] == gpus[2]
    assert links[0] == links[1] == links[2]
    assert all(link.startswith("https://") for link in links[0] if link)


# Worked out from the price of each example: 8, 40 and 120 times.
WINDOWS = {
    "fine-tuning": ["$2.72", "$13.60", "$40.80"],  # GPURento, RTX 4090 at 0.34
    "llm-training": ["$21.52", "$107.60", "$322.80"],  # GPURento, H100 SXM at 2.69
    "inference": ["$6.32", "$31.60", "$94.80"],  # GPURento, L40S at 0.79
    "image-and-video": ["$5.52", "$27.60", "$82.80"],  # best ask, RTX 5090 at 0.69
    "3d-rendering": ["$5.92", "$29.60", "$88.80"],  # best ask, RTX 6000 Ada at 0.74
    "scientific-computing": ["$9.52", "$47.60", "$142.80"],  # GPURento, A100 at 1.19
}


@pytest.mark.parametrize("slug", SLUGS)
def test_shows_the_windows_of_its_example(catalog, client, slug):
    text = text_of(client.get(path_of(slug)))

    for price in WINDOWS[slug]:
        assert price in text


def test_names_the_supplier_of_the_best_ask_and_its_day(catalog, client):
    text = text_of(client.get(path_of("3d-rendering")))

    assert (
        "Worked on EverXCloud's price of $0.74 for one GPU and hour, as of"
        " November 30, 2026, without tax."
    ) in text
    assert "At the best live ask" not in text


def test_says_so_when_nobody_offers_the_example(catalog, client):
    Offer.objects.filter(gpu__slug="rtx-6000-ada").update(free_nodes=0)

    text = text_of(client.get(path_of("3d-rendering")))

    assert "Nobody offers this guide's GPU right now" in text
    assert "$5.92" not in text


# Figures of the cards; sizes by hand: 80 % of the memory over 16, or 2, 1, 0.6 bytes.
ROWS = {
    # 64 / 16 = 4; eight cards: 512 / 16 = 32, floored to 30
    "llm-training": [
        ["H100 SXM Hopper", "80 GB", "3,350 GB/s", "989 TFLOPS", "≈ 4B", "≈ 30B"],
        ["H200 Hopper", "141 GB", "4,800 GB/s", "989 TFLOPS", "≈ 7B", "≈ 55B"],
    ],
    "inference": [
        ["RTX 4090 Ada Lovelace", "24 GB", "1,008 GB/s", "≈ 9B", "≈ 15B", "≈ 30B"],
        ["H100 SXM Hopper", "80 GB", "3,350 GB/s", "≈ 30B", "≈ 60B", "≈ 105B"],
    ],
    "image-and-video": [
        ["L40S Ada Lovelace", "48 GB", "362", "733", "≈ 15B", "≈ 35B"],
        ["RTX A6000 Ampere", "48 GB", "155", "–", "≈ 15B", "≈ 35B"],
    ],
    "3d-rendering": [
        ["RTX 4090 Ada Lovelace", "24 GB", "1,008 GB/s", "82.6", "128"],
        ["A100 SXM Ampere", "80 GB", "2,039 GB/s", "19.5", "none"],
    ],
    "scientific-computing": [
        ["RTX 4090 Ada Lovelace", "24 GB", "1,008 GB/s", "1.3", "82.6"],
        ["H100 SXM Hopper", "80 GB", "3,350 GB/s", "33.5", "67"],
        ["MI300X CDNA3", "192 GB", "5,300 GB/s", "81.7", "163.4"],
    ],
}


@pytest.mark.parametrize("slug", ROWS)
def test_compares_the_figures_of_the_work(catalog, client, slug):
    rows = [row[:-2] for row in tables_of(client.get(path_of(slug)))[0]]

    for row in ROWS[slug]:
        assert row in rows


def test_shortlist_says_where_and_how_many(catalog, client):
    text = text_of(client.get(path_of("llm-training")))

    assert "$1.79 EU Central · Frankfurt 8 nodes free EverXCloud, as of" in text


def test_links_the_other_five(catalog, client):
    source = client.get(path_of("inference", "es")).content.decode()

    for slug in SLUGS:
        if slug != "inference":
            assert f'href="/es/workloads/{slug}/"' in source


@pytest.mark.parametrize("slug", SLUGS)
def test_asks_at_most_ten_queries(catalog, renter_client, slug):
    renter_client.get(path_of(slug))

    assert queries_of(renter_client, path_of(slug)) <= 10


def test_asks_as_many_queries_for_many_offers(crowd, client):  # noqa: F811
    client.get(path_of("inference"))
    before = queries_of(client, path_of("inference"))
    crowd()

    assert queries_of(client, path_of("inference")) == before


class TestCalculator:
    def test_answers_without_a_question(self, catalog, client):
        text = text_of(client.get(path_of("inference")))

        # Llama 3.1 8B in 16 bit: 16.06e9 / 2^30; 8 requests of 8192 tokens: 8 x 2^30
        assert "Weights 15.0 GB" in text
        assert "KV cache 8.0 GB 131,072 bytes a token" in text
        # with 1e9 bytes more: 25.65e9 / 2^30
        assert "Needed 23.9 GB" in text

    def test_answers_what_the_address_asks(self, catalog, client):
        page = client.get(
            path_of("inference"),
            {
                "model": "qwen2-5-32b",
                "precision": "4",
                "cache": "8",
                "context": "4096",
                "requests": "2",
            },
        )

        text = text_of(page)
        # 2 x 64 layers x 8 heads x 128 x 1 byte; 2 x 4096 of them are 2^30
        assert "131,072 bytes a token" in text
        assert "KV cache 1.0 GB" in text
        assert '<option value="qwen2-5-32b" selected>' in page.content.decode()

    def test_shows_limits_and_what_they_cost(self, catalog, client):
        page = client.get(path_of("inference"), {"requests": "1"})

        rows = {row[0]: row for row in tables_of(page)[1]}
        # 1008e9 / 16.08e9 = 62.67 tokens/s; 0.33 / (62.67 x 3600) x 1e6 = 1.463
        assert rows["RTX 4090 24 GB"][1:] == ["Fits", "5", "≤ 63", "≤ 63", "≥ $1.463"]

    def test_has_no_speed_where_it_does_not_fit(self, catalog, client):
        page = client.get(path_of("inference"), {"model": "meta-llama-3-1-70b"})

        rows = {row[0]: row for row in tables_of(page)[1]}
        assert rows["RTX 4090 24 GB"][1:] == ["Does not fit", "0", "–", "–", "–"]

    @pytest.mark.parametrize(
        ("query", "error"),
        [
            ({"context": "many"}, "Write a whole number, with digits only."),
            ({"requests": "0"}, "greater than or equal to 1"),
            ({"precision": "3"}, "Select a valid choice."),
            ({"model": "meta-llama-3-8b", "context": "9000"}, "reads 8,192 tokens"),
            # Its cache is compressed: the formula would be wrong.
            ({"model": "deepseek-v3"}, "Select a valid choice."),
        ],
    )
    def test_says_what_it_does_not_understand(self, catalog, client, query, error):
        page = client.get(path_of("inference"), query)

        assert page.status_code == 200
        assert error in text_of(page)
        assert "No answer yet" in text_of(page)

    def test_is_on_the_guide_to_inference_only(self, catalog, client):
        assert "speed limit" not in text_of(client.get(path_of("llm-training")))

    @pytest.mark.parametrize("language", LANGUAGES)
    def test_shows_its_formula(self, catalog, client, language):
        source = client.get(path_of("inference", language)).content.decode()

        assert "<code>2 ×" in source
        assert "÷ (" in source
