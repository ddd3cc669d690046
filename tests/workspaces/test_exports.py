"""
Exported tasks, read back by dstack's and SkyPilot's own parsers.
"""

import json
import os
import subprocess
from pathlib import Path

import pytest
import yaml
from django.urls import reverse

from catalog.models import GpuModel, Image
from tests.workspaces import export_tools
from tests.workspaces.conftest import COMMIT, NOON
from workspaces.models import Workspace
from workspaces.recipes import exports
from workspaces.recipes.commands import RECIPES

READER = Path(__file__).with_name("parse_exports.py")
TOOLS = ["dstack", "skypilot"]


def page(workspace, tool):
    return reverse("workspaces:export", args=[workspace.pk, tool])


@pytest.fixture(scope="session")
def parse(tools, tmp_path_factory):
    """
    Let the tools themselves read what was exported.
    """
    home = tmp_path_factory.mktemp("home")

    def read(*files):
        done = subprocess.run(
            [str(export_tools.PYTHON), str(READER)],
            input=json.dumps(files),
            env={"PATH": os.environ["PATH"], "HOME": str(home)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-2000:]
        return json.loads(done.stdout)

    return read


def in_image(workspace, slug, method):
    workspace.image = Image.objects.get(slug=slug)
    workspace.method = method
    workspace.lora_rank = None if method == "full" else 16
    return workspace


@pytest.mark.xdist_group("export tools")
def test_both_parsers_accept_every_recipe(parse, funded):
    asked = [
        (tool, slug, method)
        for tool in TOOLS
        for slug in RECIPES
        for method in Image.objects.get(slug=slug).methods
    ]
    files = [
        (tool, exports.as_yaml(in_image(funded, slug, method), tool))
        for tool, slug, method in asked
    ]

    for (tool, slug, method), task in zip(asked, parse(*files), strict=True):
        assert task["name"] == f"corehour-{funded.code.lower()}"
        assert task["image"] == Image.objects.get(slug=slug).reference
        assert (task["gpu"], task["gpus"], task["disk"]) == ("RTX4090", 1, 200), tool
        settings = task["env"]
        assert settings["MODEL"] == "meta-llama/Meta-Llama-3.1-8B"
        assert settings["REVISION"] == COMMIT
        assert settings["METHOD"] == method
        assert settings["SEQUENCE_LENGTH"] == "2048"
        assert settings["CHECKPOINT_MINUTES"] == "30"
        assert settings["CHECKPOINTS_KEPT"] == "3"
        assert "train" in task["run"]
        if tool == "dstack":
            assert task["seconds"] == 40 * 3600


@pytest.mark.xdist_group("export tools")
def test_both_parsers_accept_every_gpu(parse, funded):
    gpus = list(GpuModel.objects.order_by("pk"))
    files = []
    for gpu in gpus:
        funded.gpu = gpu
        files += [(tool, exports.as_yaml(funded, tool)) for tool in TOOLS]

    answers = parse(*files)

    named = dict(zip([gpu.slug for gpu in gpus], answers[1::2], strict=True))
    assert named["a100-sxm-80"]["gpu"] == "A100-80GB"
    assert named["h100-nvl"]["gpu"] == "H100-NVL"


@pytest.mark.xdist_group("export tools")
def test_nothing_that_was_typed_breaks_out(parse, funded):
    nasty = "v1\"\n  evil: true\n#'$(reboot)`id`: {a: [1]}\nPYTHON\nTRAIN_CONFIG"
    funded.revision = nasty
    for slug in RECIPES:
        in_image(funded, slug, "lora")
        files = [(tool, exports.as_yaml(funded, tool)) for tool in TOOLS]

        for task in parse(*files):
            assert task["env"]["REVISION"] == nasty
            assert "reboot" not in task["run"]
            if "TRAIN_CONFIG" in task["env"]:
                config = yaml.safe_load(task["env"]["TRAIN_CONFIG"])
                assert nasty in config.values()


@pytest.mark.parametrize("name", ["trl", "unsloth"])
def test_the_scripts_are_python(name):
    path = Path(exports.__file__).with_name(f"{name}.py.txt")

    compile(path.read_text(), str(path), "exec")


@pytest.mark.parametrize(
    ("method", "adapter"), [("qlora", "qlora"), ("lora", "lora"), ("full", None)]
)
def test_axolotl_and_llama_factory_get_the_method(funded, method, adapter):
    axolotl, factory = (
        yaml.safe_load(
            exports.dstack_task(in_image(funded, slug, method))["env"]["TRAIN_CONFIG"]
        )
        for slug in ("axolotl", "llama-factory")
    )

    assert axolotl.get("adapter") == adapter
    assert axolotl["sequence_len"] == factory["cutoff_len"] == 2048
    assert axolotl["save_total_limit"] == factory["save_total_limit"] == 3
    assert factory["finetuning_type"] == ("full" if method == "full" else "lora")
    assert ("quantization_bit" in factory) == (method == "qlora")


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("state", ["funded", "running"])
def test_a_task_is_downloaded(renter_client, request, state, tool, time_machine):
    time_machine.move_to(NOON, tick=False)
    workspace = request.getfixturevalue(state)

    response = renter_client.get(page(workspace, tool))

    name = f"corehour-{workspace.code.lower()}.{tool}.yml"
    assert response.status_code == 200
    assert response["Content-Type"] == "application/yaml; charset=utf-8"
    assert response["Content-Disposition"] == f'attachment; filename="{name}"'
    assert yaml.safe_load(response.content)["name"] == name.split(".")[0]
    detail = renter_client.get(workspace.get_absolute_url()).content.decode()
    assert page(workspace, tool) in detail


def test_only_its_owner_downloads_it(stranger_client, renter_client, funded):
    assert stranger_client.get(page(funded, "dstack")).status_code == 404
    assert renter_client.get(page(funded, "kubernetes")).status_code == 404


def test_an_image_without_a_recipe_offers_none(renter_client, funded, time_machine):
    time_machine.move_to(NOON, tick=False)
    Image.objects.filter(pk=funded.image_id).update(slug="own-image")

    assert renter_client.get(page(funded, "dstack")).status_code == 404
    detail = renter_client.get(funded.get_absolute_url()).content.decode()
    assert "Take the recipe elsewhere" not in detail
    assert Workspace.objects.count() == 1
