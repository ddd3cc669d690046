import pytest
from django.http import QueryDict
from django.utils import translation

from billing.services import wallets_of
from tests.workspaces.conftest import NOON, usd
from workspaces.forms.request import RequestForm, initial_from_query, initial_from_quote


def query(values):
    data = QueryDict(mutable=True)
    for name, value in values.items():
        data.setlist(name, value if isinstance(value, list) else [value])
    return data


@pytest.fixture
def make_form(renter, typed):
    def make(**changes):
        return RequestForm(
            query({**typed, **changes}),
            initial={},
            wallets=wallets_of(user_id=renter.pk),
            at=NOON,
        )

    return make


def drawn_by(form):
    groups = [group for column in form.columns() for group in column]
    return [field.name for _heading, rows in groups for row in rows for field in row]


def test_reads_every_field(make_form, wanted):
    form = make_form()

    assert form.is_valid(), form.errors
    read = form.wanted()
    assert read.dataset_note == "alpaca, cleaned, v2"
    assert read.regions == ["eu-central-frankfurt", "eu-west-paris"]
    for name in ("base_model", "revision", "method", "image", "gpu", "storage_plan"):
        assert getattr(read, name) == getattr(wanted, name)
    assert read.wanted_limit is None


@pytest.mark.parametrize("text", ["0.40", "0,40", "$0.40", " 0,4 "])
def test_reads_a_limit_with_either_decimal_mark(make_form, text):
    form = make_form(wanted_limit=text)

    assert form.is_valid(), form.errors
    assert form.wanted().wanted_limit == usd("0.40").amount


def test_full_fine_tuning_has_no_rank(make_form):
    form = make_form(method="full", gpu="h200", storage_gb="300", hours="1")
    form.fields["is_fit_risk_accepted"].clean = lambda value: True

    assert form.is_valid(), form.errors
    assert form.wanted().lora_rank is None


@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        ({"revision": ""}, "revision", "required"),
        ({"revision": "main"}, "revision", "is a branch"),
        ({"revision": "0123abc"}, "revision", "all 40 characters"),
        ({"revision": "a tag"}, "revision", "without spaces"),
        ({"lora_rank": ""}, "lora_rank", "need a rank"),
        ({"image": "trl"}, "image", "TRL has no library for QLoRA"),
        ({"sequence_length": "131073"}, "sequence_length", "131,072 tokens at most"),
        # 8.03 billion parameters of two bytes are 16.06 GB.
        ({"storage_gb": "16"}, "storage_gb", "need 17 GB at least"),
        ({"kept_days": "31"}, "kept_days", "for 30 days at most"),
        ({"storage_plan": "ephemeral"}, "kept_days", "keeps nothing after the end"),
        ({"kept_at_end": "NOTHING"}, "kept_at_end", "say what to keep"),
        ({"regions": []}, "regions", "one region or more"),
        ({"regions": ["mars"]}, "regions", "not one of"),
        ({"hours": "0"}, "hours", "greater than or equal to 1"),
        ({"hours": "2161"}, "hours", "less than or equal to 2160"),
        ({"gpus": "17"}, "gpus", "less than or equal to 16"),
        ({"wanted_limit": "1.008"}, "wanted_limit", "without thousands separators"),
        ({"wanted_limit": "0"}, "wanted_limit", "above zero"),
        ({"currency": "JPY"}, "currency", "valid choice"),
        ({"start_deadline": "2026-11-30T12:00"}, "start_deadline", "is over"),
        ({"base_model": "gpt-5"}, "base_model", "valid choice"),
    ],
)
def test_says_what_is_wrong_and_where(make_form, changes, field, words):
    form = make_form(**changes)

    assert not form.is_valid()
    assert list(form.errors) == [field]
    assert words in str(form.errors[field])


def test_says_everything_at_once(make_form):
    form = make_form(
        base_model="llama-2-70b-hf",
        revision="main",
        image="trl",
        storage_gb="16",
        kept_days="60",
        wanted_limit="1.008",
    )

    wrong = {"revision", "image", "storage_gb", "kept_days", "wanted_limit", "gpu"}
    assert set(form.errors) == wrong


def test_a_gpu_that_is_too_small_needs_an_i_know(make_form):
    # A 70B model does not fit 24 GB: its 4-bit weights alone take more.
    too_large = {"base_model": "llama-2-70b-hf"}
    form = make_form(**too_large)

    assert list(form.errors) == ["gpu"]
    assert "say below that you know" in str(form.errors["gpu"])
    assert "is_fit_risk_accepted" in drawn_by(form)
    assert make_form(**too_large, is_fit_risk_accepted="on").is_valid()


def test_does_not_ask_for_an_i_know_without_need(make_form):
    drawn = drawn_by(make_form())

    assert "is_fit_risk_accepted" not in drawn
    assert sorted([*drawn, "is_fit_risk_accepted"]) == sorted(RequestForm.base_fields)


def test_takes_over_the_state_of_the_planner():
    link = QueryDict(
        "model=meta-llama-3-1-8b&method=lora&sequence_length=4096&micro_batch=2"
        "&gpu=l40s&region=eu-west-paris&region=eu-central-frankfurt&hours=8"
        "&storage_gb=100&sort=price"
    )

    assert initial_from_query(link) == {
        "base_model": "meta-llama-3-1-8b",
        "method": "lora",
        "sequence_length": "4096",
        "micro_batch": "2",
        "gpu": "l40s",
        "regions": ["eu-west-paris", "eu-central-frankfurt"],
        "hours": "8",
        "storage_gb": "100",
    }


def test_takes_over_everything_of_an_earlier_quote(make_quote, make_form):
    quote = make_quote(wanted_limit=usd("0.31").amount, dataset_note="mine")
    initial = initial_from_quote(quote)

    kept = {name: value for name, value in initial.items() if value is not None}
    form = make_form(**kept)

    assert form.is_valid(), form.errors
    assert form.wanted().wanted_limit == usd("0.31").amount
    assert form.wanted().dataset_note == "mine"


def test_speaks_spanish_numbers(make_form):
    with translation.override("es"):
        form = make_form(sequence_length="131073")

        assert "131.072" in str(form.errors["sequence_length"])


def test_takes_over_what_the_planner_says_about_loss_and_optimizer():
    query = QueryDict("loss=fused&optimizer=adamw_8bit&is_checkpointing=")

    initial = initial_from_query(query)

    assert initial["loss_kernel"] == "fused"
    assert initial["optimizer"] == "adamw_8bit"
    assert not initial["is_checkpointing"]


def test_counts_the_loss_and_the_optimizer_in_the_fit(make_form):
    # MEMORY.md: a plain loss over 128,256 entries is what fills the card here.
    plain = make_form(sequence_length="8192")
    fused = make_form(sequence_length="8192", loss_kernel="fused")

    assert not plain.is_valid()
    assert "Choose a larger GPU" in str(plain.errors["gpu"])
    assert fused.is_valid(), fused.errors
    assert fused.wanted().loss_kernel == "fused"


@pytest.mark.parametrize(
    ("chosen", "link"),
    [
        (
            "meta-llama-3-1-8b",
            'href="https://huggingface.co/meta-llama/Meta-Llama-3.1-8B/commits/main"'
            ' target="_blank" rel="noopener">',
        ),
        ("", " hidden>"),
        ("no-such-model", " hidden>"),
        ("\x00", " hidden>"),
    ],
)
def test_leads_to_the_commits_of_the_chosen_model(catalog, chosen, link):
    form = RequestForm(initial={"base_model": chosen}, wallets=[], at=NOON)

    assert link in form["revision"].help_text
    assert 'data-repository="Qwen/Qwen2.5-14B"' in str(form["base_model"])
