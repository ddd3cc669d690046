"""
Names and notes that stand in the catalog's data, in the reader's language.

The database has them in English, as `catalog/data` does. What is listed here is known
to the translators; what staff enter besides is shown as they wrote it.
"""

from django.utils.translation import gettext, gettext_noop

from catalog.asks import Place
from catalog.models import GpuModel, Region, StoragePlan

KNOWN = (
    gettext_noop("EU West"),
    gettext_noop("EU Central"),
    gettext_noop("Paris"),
    gettext_noop("Frankfurt"),
    gettext_noop("Persistent (demo)"),
    gettext_noop("Ephemeral (demo)"),
    gettext_noop(
        "Network storage that outlives the workspace: checkpoints and data stay for"
        " the days that you pay for."
    ),
    gettext_noop(
        "Fast local disk for caches and data sets that can be loaded again: it is"
        " deleted when the workspace ends."
    ),
    gettext_noop(
        "Tensor figures are with fp32 accumulate; with fp16 accumulate fp16 has 142."
    ),
    gettext_noop(
        "Tensor figures are with fp32 accumulate; with fp16 accumulate fp16 has "
        "330 and fp8 661."
    ),
    gettext_noop(
        "Tensor figures are with fp32 accumulate; with fp16 accumulate fp16 has 419."
    ),
    gettext_noop(
        "Tensor figures are not from the linked source; a published measurement "
        "reached 457 TFLOPS in bf16 and 905 in fp8."
    ),
    gettext_noop("TechPowerUp lists 300 W, NVIDIA 350 W."),
    gettext_noop("The A10G of AWS is another card."),
    gettext_noop(
        "One board has four of them, each with 16 GB, and takes 250 W. The tensor"
        " figure is not from the linked source."
    ),
    gettext_noop("TechPowerUp lists 2040 GB/s."),
    gettext_noop(
        "Tensor figures are half of the data sheet's sparse ones, 1671 and 3341."
    ),
    gettext_noop(
        "There is also one with 144 GB of HBM3e, 141 GB of them usable, at 4.8 "
        "TB/s. The power limit is that of the module with its CPU."
    ),
    gettext_noop("192 GB are built in, 180 GB can be used."),
    gettext_noop(
        "288 GB is the nominal size. TechPowerUp lists 1400 W, NVIDIA 1000 W."
    ),
    gettext_noop("It does not compute in bf16."),
    gettext_noop("Two dies of 64 GB: one process sees 64 GB."),
)


def region_name(region: Region | Place) -> str:
    return f"{gettext(region.name)} · {gettext(region.city)}"


def region_city(region: Region | Place) -> str:
    return gettext(region.city)


def plan_name(plan: StoragePlan) -> str:
    return gettext(plan.name)


def plan_description(plan: StoragePlan) -> str:
    return gettext(plan.description)


def gpu_note(gpu: GpuModel) -> str:
    # gettext answers an empty text with the head of its catalog.
    return gettext(gpu.note) if gpu.note else ""
