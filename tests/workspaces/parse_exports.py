"""
Runs in the environment of the export tools: reads tasks on stdin, says what they mean.

The input is a JSON list of pairs of a tool and a file's text.
"""

import json
import sys

import sky
import yaml
from dstack._internal.core.models.configurations import parse_run_configuration


def dstack(config):
    task = parse_run_configuration(config)
    gpu = task.resources.gpu
    return {
        "name": task.name,
        "image": task.image,
        "gpu": gpu.name[0],
        "gpus": gpu.count.min,
        "disk": task.resources.disk.size.min,
        "env": task.env.as_dict(),
        "run": "\n".join(task.commands),
        "seconds": task.max_duration,
    }


def skypilot(config):
    task = sky.Task.from_yaml_config(config)
    (resources,) = task.resources
    ((gpu, gpus),) = resources.accelerators.items()
    return {
        "name": task.name,
        "image": resources.image_id[None].removeprefix("docker:"),
        "gpu": gpu,
        "gpus": gpus,
        "disk": resources.disk_size,
        "env": dict(task.envs),
        "run": task.run,
    }


READERS = {"dstack": dstack, "skypilot": skypilot}
answers = []
for tool, text in json.load(sys.stdin):
    answers.append(READERS[tool](yaml.safe_load(text)))
json.dump(answers, sys.stdout)
