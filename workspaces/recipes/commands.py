"""
What to run in which image: settings as environment variables, and fixed commands.

Nothing that a person typed is ever part of a command: commands only name variables.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from catalog.models import Method

if TYPE_CHECKING:
    from workspaces.models import Specification

DATA = "/workspace"
OUTPUT = f"{DATA}/checkpoints"
# Small, public, and with the columns that all five tools read: the renter's own data
# take its place.
DATASET = "tatsu-lab/alpaca"
# Axolotl and LLaMA-Factory count steps between checkpoints, not minutes.
STEPS_BETWEEN_CHECKPOINTS = 50
LEARNING_RATES = {Method.FULL: 0.00002}
ADAPTER_LEARNING_RATE = 0.0002
TRL = "trl[peft,quantization]==1.5.0"

Recipe = tuple[dict[str, str], list[str]]


def recipe_of(terms: "Specification") -> Recipe:
    """
    Return the environment and the commands that do the job in its image.

    :raises KeyError: if nobody has written a recipe for this image
    """
    variables, commands = RECIPES[terms.image.slug](terms)
    return {**settings_of(terms), **variables}, [f"mkdir -p {OUTPUT}", *commands]


def has_recipe(terms: "Specification") -> bool:
    return terms.image.slug in RECIPES


def settings_of(terms: "Specification") -> dict[str, str]:
    """
    Return what was asked for, as environment variables.
    """
    return {
        "MODEL": terms.base_model.hf_id,
        "REVISION": terms.revision,
        "METHOD": terms.method,
        "SEQUENCE_LENGTH": str(terms.sequence_length),
        "MICRO_BATCH": str(terms.micro_batch),
        "LORA_RANK": str(terms.lora_rank or ""),
        "GRADIENT_CHECKPOINTING": "true" if terms.is_checkpointing else "false",
        "LOSS_KERNEL": terms.loss_kernel,
        "OPTIMIZER": terms.optimizer,
        "GPUS": str(terms.gpus),
        "CHECKPOINT_MINUTES": str(terms.checkpoint_minutes),
        "CHECKPOINTS_KEPT": str(terms.checkpoints_kept),
        "KEEP_AT_END": terms.kept_at_end,
        "OUTPUT": OUTPUT,
        "DATASET": DATASET,
    }


def _script(name: str) -> str:
    """
    Return the command that writes one of our scripts into the workspace.
    """
    text = Path(__file__).with_name(f"{name}.py.txt").read_text()
    return f"cat > {DATA}/train.py <<'PYTHON'\n{text}PYTHON"


LAUNCH = f'accelerate launch --num_processes "$GPUS" {DATA}/train.py'


def _trl(terms: "Specification") -> Recipe:
    return {}, [_script("trl"), LAUNCH]


def _pytorch(terms: "Specification") -> Recipe:
    return {}, [f"pip install --quiet '{TRL}'", _script("trl"), LAUNCH]


def _unsloth(terms: "Specification") -> Recipe:
    return {}, [_script("unsloth"), f"python {DATA}/train.py"]


def _axolotl(terms: "Specification") -> Recipe:
    config: dict[str, Any] = {
        "base_model": terms.base_model.hf_id,
        "revision_of_model": terms.revision,
        "datasets": [{"path": DATASET, "type": "alpaca"}],
        "sequence_len": terms.sequence_length,
        "micro_batch_size": terms.micro_batch,
        "gradient_accumulation_steps": 1,
        "gradient_checkpointing": terms.is_checkpointing,
        "num_epochs": 1,
        "optimizer": "adamw_torch_fused",
        "lr_scheduler": "cosine",
        "learning_rate": _learning_rate(terms),
        "bf16": "auto",
        "val_set_size": 0,
        "output_dir": OUTPUT,
        "save_steps": STEPS_BETWEEN_CHECKPOINTS,
        "save_total_limit": terms.checkpoints_kept,
        "auto_resume_from_checkpoints": True,
    }
    if terms.method != Method.FULL:
        config |= {
            "adapter": terms.method,
            "load_in_4bit": terms.method == Method.QLORA,
            "lora_r": terms.lora_rank,
            "lora_alpha": 2 * (terms.lora_rank or 0),
            "lora_target_linear": True,
        }
    return _from_file(config, f"axolotl train {DATA}/train.yaml")


def _llama_factory(terms: "Specification") -> Recipe:
    config: dict[str, Any] = {
        "stage": "sft",
        "do_train": True,
        "model_name_or_path": terms.base_model.hf_id,
        "model_revision": terms.revision,
        "dataset": "alpaca_en_demo",
        "template": "default",
        "cutoff_len": terms.sequence_length,
        "per_device_train_batch_size": terms.micro_batch,
        "gradient_accumulation_steps": 1,
        "disable_gradient_checkpointing": not terms.is_checkpointing,
        "num_train_epochs": 1,
        "learning_rate": _learning_rate(terms),
        "bf16": True,
        "output_dir": OUTPUT,
        "save_steps": STEPS_BETWEEN_CHECKPOINTS,
        "save_total_limit": terms.checkpoints_kept,
        "report_to": "none",
        "finetuning_type": "full" if terms.method == Method.FULL else "lora",
    }
    if terms.method != Method.FULL:
        config |= {"lora_rank": terms.lora_rank, "lora_target": "all"}
    if terms.method == Method.QLORA:
        config |= {"quantization_bit": 4, "quantization_method": "bnb"}
    return _from_file(config, f"llamafactory-cli train {DATA}/train.yaml")


def _from_file(config: dict[str, Any], command: str) -> Recipe:
    text = yaml.safe_dump(config, sort_keys=False)
    write = f"printf '%s' \"$TRAIN_CONFIG\" > {DATA}/train.yaml"
    return {"TRAIN_CONFIG": text}, [write, command]


def _learning_rate(terms: "Specification") -> float:
    return LEARNING_RATES.get(Method(terms.method), ADAPTER_LEARNING_RATE)


RECIPES = {
    "pytorch": _pytorch,
    "axolotl": _axolotl,
    "unsloth": _unsloth,
    "llama-factory": _llama_factory,
    "trl": _trl,
}
