"""
The planner with a model of one's own: its shape, or a pasted config.json.
"""

import json
import re
from datetime import timedelta
from html import escape
from urllib.parse import parse_qs

import pytest
import time_machine
from django.test import Client
from django.urls import reverse

from tests.catalog.pages import text_of, words

HOUR = timedelta(hours=1)


@pytest.fixture(autouse=True)
def _at_noon(now):
    with time_machine.travel(now, tick=False):
        yield


def links(page):
    source = page.content.decode().replace("&amp;", "&")
    start = f'href="{reverse("workspaces:request")}?'
    return [piece.split('"')[0] for piece in source.split(start)[1:]]


def test_starts_a_model_of_ones_own_from_the_chosen_one(catalog, client):
    # Qwen2.5 14B: 5,120 wide, 48 layers, 40 heads, 8 for keys and values.
    source = client.get("/planner/?source=own&model=qwen2-5-14b").content.decode()

    for value in ("5120", "48", "40", "8", "128", "13824", "152064", "14.77"):
        assert f'value="{value}' in source
    assert "Your model (≈ 14.8B)" in words(source)


def test_counts_the_parameters_of_a_shape_that_does_not_state_them(catalog, client):
    # TinyLlama: 22 layers of 2 x 2048 x (2048 + 256) + 3 x 2048 x 5632 + 2 x 2048,
    # 2 x 32000 x 2048 and a norm of 2048: 1,100,048,384.
    page = client.get(
        "/planner/?source=own&hidden_size=2048&num_hidden_layers=22"
        "&num_attention_heads=32&num_key_value_heads=4&head_dim=64"
        "&intermediate_size=5632&vocab_size=32000&tie_word_embeddings=no&mlp=3"
        "&norm=rmsnorm&norms_per_layer=2"
    )
    listed = client.get("/planner/?model=tinyllama-1-1b-chat-v1-0")

    needs = re.compile(r"Needs about [\d.]+ GB")
    assert needs.search(text_of(page))[0] == needs.search(text_of(listed))[0]
    assert "model=" not in "".join(links(page))


LLAMA_CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 4096,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "intermediate_size": 14336,
    "vocab_size": 128256,
    "tie_word_embeddings": False,
    "max_position_embeddings": 131072,
}


def test_a_pasted_configuration_becomes_the_address(catalog, client):
    answer = client.post(
        "/planner/config/?model=phi-2&hours=12&num_experts=8",
        {"config": json.dumps(LLAMA_CONFIG)},
    )

    assert answer.status_code == 302
    query = parse_qs(answer.url.split("?")[1])
    assert query["hours"] == ["12"]
    assert query["hidden_size"] == ["4096"]
    assert query["total_params_b"] == ["8.0303"]
    assert "num_experts" not in query
    page = client.get(answer.url)
    assert "Your model (≈ 8B)" in text_of(page)
    assert "Needs about 13.6 GB." in text_of(page)


def test_a_configuration_that_is_not_understood_stays_as_it_was_pasted(catalog, client):
    broken = '{"model_type": "llama", "hidden_size": "<b>wide</b>"}'

    answer = client.post("/planner/config/?hours=12", {"config": broken})

    assert answer.status_code == 422
    source = answer.content.decode()
    assert escape(broken) in source
    assert "“hidden_size” is a whole number from 1 to 131072." in words(source)
    assert 'value="12"' in source


def test_takes_a_configuration_by_post_only(catalog, client):
    assert client.get("/planner/config/").status_code == 405
    assert Client(enforce_csrf_checks=True).post("/planner/config/").status_code == 403
