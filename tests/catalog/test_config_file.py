import csv
import json

import pytest
from django.utils import translation

from catalog.fit import count_parameters
from catalog.fit.config_file import ConfigNotUnderstood, read_config
from catalog.measurements import DATA, architectures

# Compressed attention and dense first layers are not in their shapes.
NOT_BY_SHAPE = {"deepseek-ai/DeepSeek-V2-Lite", "deepseek-ai/DeepSeek-V3"}

LLAMA = {
    "model_type": "llama",
    "hidden_size": 4096,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "intermediate_size": 14336,
    "vocab_size": 128256,
    "max_position_embeddings": 131072,
}
# Published totals: DeepSeek's inference configurations, the model cards of the others.
DEEPSEEK = {
    "num_hidden_layers": 27,
    "hidden_size": 2048,
    "num_attention_heads": 16,
    "intermediate_size": 10944,
    "vocab_size": 102400,
    "n_routed_experts": 64,
    "n_shared_experts": 2,
    "num_experts_per_tok": 6,
    "moe_intermediate_size": 1408,
    "first_k_dense_replace": 1,
    "kv_lora_rank": 512,
    "q_lora_rank": None,
    "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64,
    "v_head_dim": 128,
}
PUBLISHED = {
    "Llama 3.1 8B": (LLAMA, 8.0303),
    "DeepSeek-V2 Lite": ({"model_type": "deepseek_v2", **DEEPSEEK}, 15.7065),
    "DeepSeek-V3": (
        {
            **DEEPSEEK,
            "model_type": "deepseek_v3",
            "num_hidden_layers": 61,
            "hidden_size": 7168,
            "num_attention_heads": 128,
            "intermediate_size": 18432,
            "vocab_size": 129280,
            "n_routed_experts": 256,
            "n_shared_experts": 1,
            "num_experts_per_tok": 8,
            "moe_intermediate_size": 2048,
            "first_k_dense_replace": 3,
            "q_lora_rank": 1536,
        },
        671.0264,
    ),
    "Mixtral 8x7B": (
        {
            **LLAMA,
            "model_type": "mixtral",
            "vocab_size": 32000,
            "num_local_experts": 8,
            "num_experts_per_tok": 2,
        },
        46.7028,
    ),
    "Qwen2 57B-A14B": (
        {
            "model_type": "qwen2_moe",
            "hidden_size": 3584,
            "num_hidden_layers": 28,
            "num_attention_heads": 28,
            "num_key_value_heads": 4,
            "intermediate_size": 18944,
            "vocab_size": 151936,
            "num_experts": 64,
            "num_experts_per_tok": 8,
            "moe_intermediate_size": 2560,
            "shared_expert_intermediate_size": 20480,
            "decoder_sparse_step": 1,
            "mlp_only_layers": [],
        },
        57.41,
    ),
    "Falcon 7B": (
        {
            "model_type": "falcon",
            "hidden_size": 4544,
            "num_hidden_layers": 32,
            "num_attention_heads": 71,
            "vocab_size": 65024,
            "multi_query": True,
            "new_decoder_architecture": False,
        },
        6.9217,
    ),
    "Falcon 40B": (
        {
            "model_type": "falcon",
            "hidden_size": 8192,
            "num_hidden_layers": 60,
            "num_attention_heads": 128,
            "num_kv_heads": 8,
            "vocab_size": 65024,
            "multi_query": True,
            "new_decoder_architecture": True,
        },
        41.3033,
    ),
    "Gemma 3 4B": (
        {
            "model_type": "gemma3",
            "text_config": {
                "model_type": "gemma3_text",
                "hidden_size": 2560,
                "num_hidden_layers": 34,
                "num_attention_heads": 8,
                "num_key_value_heads": 4,
                "head_dim": 256,
                "intermediate_size": 10240,
                "vocab_size": 262144,
            },
            "vision_config": {"hidden_size": 1152},
        },
        3.8801,
    ),
    "GPT-2": (
        {
            "model_type": "gpt2",
            "n_embd": 768,
            "n_layer": 12,
            "n_head": 12,
            "n_positions": 1024,
            "vocab_size": 50257,
        },
        0.1244,
    ),
}


@pytest.fixture(autouse=True)
def english():
    with translation.override("en"):
        yield


def known_models():
    with (DATA / "base_models.csv").open(newline="") as file:
        return [row["hf_id"] for row in csv.DictReader(file)]


@pytest.mark.parametrize("model", sorted(set(known_models()) - NOT_BY_SHAPE))
def test_counts_the_parameters_of_known_models(model):
    shape = architectures()[model]

    assert count_parameters(shape) == pytest.approx(shape.parameters, rel=0.001)


@pytest.mark.parametrize("model", PUBLISHED)
def test_counts_the_parameters_of_a_configuration(model):
    config, billions = PUBLISHED[model]

    shape = read_config(json.dumps(config)).architecture

    assert float(shape.total_params_b) == pytest.approx(billions, rel=0.01)


def test_reads_the_shape():
    config = read_config(json.dumps({**LLAMA, "tie_word_embeddings": False}))

    assert config.architecture == architectures()["meta-llama/Meta-Llama-3.1-8B"]
    assert config.longest == 131072


def test_what_a_model_type_leaves_out_is_known():
    gemma = read_config(json.dumps(PUBLISHED["Gemma 3 4B"][0])).architecture

    assert gemma == architectures()["google/gemma-3-4b-it"]
    assert gemma.tie_word_embeddings


def without(key):
    return json.dumps({name: value for name, value in LLAMA.items() if name != key})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "Paste the text of a config.json."),
        ("  \n", "Paste the text of a config.json."),
        ("{", "This is not JSON: look at line 1, character 2."),
        ("[1, 2]", "one object in braces"),
        ("null", "one object in braces"),
        ('{"hidden_size": 1, "hidden_size": 2}', "“hidden_size” stands in it twice"),
        ('{"model_type": NaN}', "out of bounds"),
        ('{"hidden_size": ' + "9" * 5000 + "}", "out of bounds"),
        ("[" * 60_000, "out of bounds"),
        (" " * 70_000 + "{}", "longer than any config.json"),
        (without("model_type"), "“model_type” is missing"),
        (without("vocab_size"), "“vocab_size” is missing"),
        (without("intermediate_size"), "“intermediate_size” is missing"),
        (json.dumps({**LLAMA, "model_type": "mamba"}), "model type “mamba”"),
        (json.dumps({**LLAMA, "model_type": 7}), "“model_type” is missing"),
        (json.dumps({**LLAMA, "hidden_size": True}), "“hidden_size” is a whole number"),
        (json.dumps({**LLAMA, "hidden_size": -1}), "from 1 to 131072"),
        (json.dumps({**LLAMA, "hidden_size": 4096.0}), "“hidden_size” is a whole"),
        (json.dumps({**LLAMA, "num_hidden_layers": 10**9}), "from 1 to 1024"),
        (json.dumps({**LLAMA, "tie_word_embeddings": "no"}), "is true or false"),
        (
            json.dumps({**PUBLISHED["Qwen2 57B-A14B"][0], "decoder_sparse_step": 2}),
            "Only some of its layers have experts",
        ),
    ],
)
def test_refuses_what_is_not_a_configuration(text, message):
    with pytest.raises(ConfigNotUnderstood, match=r".") as caught:
        read_config(text)

    assert message in str(caught.value)
