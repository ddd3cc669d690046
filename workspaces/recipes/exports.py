"""
The same job as a dstack task and as a SkyPilot task, so that it runs anywhere.

The files are written by PyYAML alone: whatever was typed stays one value in them.
"""

from collections.abc import Callable
from typing import Any

import yaml

from catalog.tool_names import dstack_name, skypilot_name
from workspaces.models import Workspace
from workspaces.recipes.commands import recipe_of

# These are sold with different memory under one name.
SEVERAL_SIZES = {"A100", "V100"}


class _Dumper(yaml.SafeDumper):
    """
    Writes text of several lines as such, so that a person can read and change it.
    """


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    style = "|" if "\n" in value else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Dumper.add_representer(str, _text)


def dstack_task(workspace: Workspace) -> dict[str, Any]:
    """
    Return the configuration of a dstack task (`dstack apply -f …`).
    """
    variables, commands = recipe_of(workspace)
    name = dstack_name(slug=workspace.gpu.slug, label=workspace.gpu.label)
    gpu: dict[str, Any] = {"name": name, "count": workspace.gpus}
    if name in SEVERAL_SIZES:
        gpu["memory"] = f"{int(workspace.gpu.memory_gb)}GB"
    return {
        "type": "task",
        "name": _task_name(workspace),
        "image": workspace.image.reference,
        "env": variables,
        "commands": commands,
        "resources": {"gpu": gpu, "disk": f"{workspace.storage_gb}GB.."},
        "max_duration": f"{workspace.hours}h",
    }


def skypilot_task(workspace: Workspace) -> dict[str, Any]:
    """
    Return a SkyPilot task (`sky launch …`).
    """
    variables, commands = recipe_of(workspace)
    return {
        "name": _task_name(workspace),
        "resources": {
            "accelerators": {
                skypilot_name(
                    slug=workspace.gpu.slug, label=workspace.gpu.label
                ): workspace.gpus
            },
            "disk_size": workspace.storage_gb,
            "image_id": f"docker:{workspace.image.reference}",
        },
        "envs": variables,
        "run": "\n".join(["set -e", *commands]) + "\n",
    }


TOOLS: dict[str, Callable[[Workspace], dict[str, Any]]] = {
    "dstack": dstack_task,
    "skypilot": skypilot_task,
}
HEADS = {
    "dstack": "# dstack task of Corehour workspace {code}: dstack apply -f {file}\n",
    "skypilot": "# SkyPilot task of Corehour workspace {code}: sky launch {file}\n",
}


def file_name(workspace: Workspace, tool: str) -> str:
    return f"{_task_name(workspace)}.{tool}.yml"


def as_yaml(workspace: Workspace, tool: str) -> str:
    """
    Return the file for one of `TOOLS`.
    """
    head = HEADS[tool].format(code=workspace.code, file=file_name(workspace, tool))
    task = TOOLS[tool](workspace)
    return head + yaml.dump(task, Dumper=_Dumper, sort_keys=False, width=1000)


def _task_name(workspace: Workspace) -> str:
    return f"corehour-{workspace.code.lower()}"
