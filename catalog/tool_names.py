"""
What dstack (gpuhunt) and SkyPilot call the cards of the catalog.
"""

import re
from collections.abc import Mapping
from functools import cache

# By slug, where it is not the label without spaces.
DSTACK_NAMES = {
    "rtx-a4000": "A4000",
    "rtx-a5000": "A5000",
    "rtx-a6000": "A6000",
    "rtx-6000-ada": "RTX6000Ada",
    "rtx-pro-6000-blackwell": "RTXPRO6000",
    "a100-pcie-40": "A100",
    "a100-sxm-40": "A100",
    "a100-pcie-80": "A100",
    "a100-sxm-80": "A100",
    "h100-pcie": "H100",
    "h100-sxm": "H100",
    "h100-nvl": "H100NVL",
    "gh200-96": "GH200",
    "v100-sxm2-16": "V100",
    "v100-sxm2-32": "V100",
}
SKYPILOT_NAMES = {
    "rtx-a4000": "RTXA4000",
    "rtx-a5000": "RTXA5000",
    "rtx-a6000": "RTXA6000",
    "rtx-6000-ada": "RTX6000-Ada",
    "rtx-pro-6000-blackwell": "RTXPRO6000",
    "a100-pcie-40": "A100",
    "a100-sxm-40": "A100",
    "a100-pcie-80": "A100-80GB",
    "a100-sxm-80": "A100-80GB",
    "h100-pcie": "H100",
    "h100-sxm": "H100",
    "h100-nvl": "H100-NVL",
    "gh200-96": "GH200",
    "v100-sxm2-16": "V100",
    "v100-sxm2-32": "V100-32GB",
}


@cache
def dstack_name(*, slug: str, label: str) -> str:
    return _name(slug, label, DSTACK_NAMES)


@cache
def skypilot_name(*, slug: str, label: str) -> str:
    return _name(slug, label, SKYPILOT_NAMES)


def _name(slug: str, label: str, names: Mapping[str, str]) -> str:
    return names.get(slug) or re.sub(r"[^A-Za-z0-9]", "", label)
