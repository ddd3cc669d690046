"""
The planner's state and what follows from it, without a page.
"""

from urllib.parse import parse_qs

import pytest

from catalog.forms import PlannerState
from catalog.models import BaseModel
from catalog.planner import make_plan
from tests.catalog.pages import words


@pytest.fixture
def read(catalog):
    """
    Read a state from its address.
    """
    models = list(BaseModel.objects.filter(is_listed=True))

    def state(query=""):
        values = parse_qs(query, keep_blank_values=True)
        query = {name: texts[0] for name, texts in values.items()}
        return PlannerState(query, models=models)

    return state


@pytest.mark.parametrize(
    "model",
    [
        "meta-llama-3-1-8b",
        "meta-llama/Meta-Llama-3.1-8B",
        "Llama 3.1 8B",
        " llama  3.1 8b",
    ],
)
def test_finds_a_model_by_slug_id_or_name(read, model):
    state = read(f"model={model}")

    assert state.is_valid()
    assert state.wanted().name == "Llama 3.1 8B"
    assert 'value="Llama 3.1 8B"' in str(state.form["model"])


@pytest.mark.parametrize(
    ("query", "typed", "message"),
    [
        ("model=Lama+3.1+8B", "Lama 3.1 8B", "Did you mean Llama 3.1 8B"),
        ("model=gpt-9", "gpt-9", "No model of this name is known."),
        ("model=openbuddy-zephyr-7b", "openbuddy-zephyr-7b", "No model of this name"),
        ("model=", "", "Name a model, for example Llama 3.1 8B."),
        ("sequence_length=8.192", "8.192", "Write a whole number, with digits only."),
        ("sequence_length=0", "0", "greater than or equal to 1"),
        ("rank=0", "0", "greater than or equal to 1"),
        ("source=own&hidden_size=4096.5", "4096.5", "Write a whole number"),
        ("source=own&num_experts=8", "8", "Experts need this as well."),
        ("source=own&total_params_b=1.000.000", "1.000.000", "Write a number like 0.5"),
        ("micro_batch=", "", "Write a number here."),
        ("hours=2161", "2161", "less than or equal to 2160"),
        ("hours=-8", "-8", "greater than or equal to 1"),
        ("storage_gb=20001", "20001", "less than or equal to 20000"),
        ("method=dora", "", "Select a valid choice."),
    ],
)
def test_refuses_and_keeps_what_was_typed(read, query, typed, message):
    state = read(query)

    assert not state.is_valid()
    forms = [form for form in (state.form, state.shape) if form is not None]
    assert message in words("".join(str(form.errors) for form in forms))
    if typed:
        assert f'value="{typed}"' in "".join(str(form) for form in forms)


@pytest.mark.parametrize(
    ("query", "change"),
    [
        ("sequence_length=8192", "loss=fused"),
        ("sequence_length=8192", "sequence_length=4096"),
        ("sequence_length=4096&micro_batch=8&method=lora", "micro_batch=2"),
        ("method=lora&checkpointing=off&loss=fused", "checkpointing=on"),
        ("method=full", "optimizer=adamw_8bit"),
        ("method=full", "method=lora"),
        ("method=lora&model=qwen2-5-32b", "method=qlora"),
        ("method=full", "gpus=2"),
    ],
)
def test_links_to_each_change_that_would_make_it_fit(read, now, query, change):
    state = read(query)
    assert state.is_valid()

    plan = make_plan(state.wanted(), at=now)

    name, value = change.split("=")
    options = [*(each for row in plan.rows for each in row.options)]
    options += [plan.advice] if plan.advice else []
    changed = [
        each.query for each in options if parse_qs(each.query).get(name) == [value]
    ]
    assert changed
    kept = parse_qs(query)
    kept.pop(name, None)
    assert all(parse_qs(changed[0])[key] == value for key, value in kept.items())
    assert read(changed[0]).is_valid()


@pytest.mark.parametrize(
    ("query", "evidence"),
    [
        ("", "measured"),
        ("framework=litgpt", "measured"),
        ("framework=unsloth", "modelled"),
        ("gpus=2", "provisional"),
        ("source=own", "modelled"),
        ("model=mixtral-8x7b-v0-1", "modelled"),
    ],
)
def test_says_how_well_an_estimate_is_measured(read, query, evidence):
    state = read(query)

    assert state.is_valid()
    assert state.wanted().evidence == evidence
