"""
Runs in the environment of the export tools: lets them read the market's catalog files.

The argument is a folder with gpuhunt.csv and skypilot.csv; what the tools make of them
is written to stdout.
"""

import json
import os
import shutil
import sys
from dataclasses import asdict
from pathlib import Path

folder = Path(sys.argv[1])
# Both tools look for a provider that they know; the name is all that they need of it.
gpuhunt_dir = folder / "gpuhunt"
gpuhunt_dir.mkdir()
shutil.copy(folder / "gpuhunt.csv", gpuhunt_dir / "runpod.csv")
os.environ["GPUHUNT_CATALOG_DIR"] = str(gpuhunt_dir)
os.environ["SKY_RUNTIME_DIR"] = str(folder)

import gpuhunt  # noqa: E402
from sky.catalog import vast_catalog  # noqa: E402
from sky.catalog.common import get_catalog_path  # noqa: E402

sky_path = Path(get_catalog_path("vast/vms.csv"))
sky_path.parent.mkdir(parents=True)
shutil.copy(folder / "skypilot.csv", sky_path)

catalog = gpuhunt.Catalog(auto_reload=False)
items = catalog.query(provider="runpod")
eight = catalog.query(provider="runpod", gpu_name="B200", min_gpu_count=8)
listed = vast_catalog.list_accelerators(
    gpus_only=True, name_filter=None, region_filter=None, quantity_filter=None
)
types, _ = vast_catalog.get_instance_type_for_accelerator("B200", 8)
json.dump(
    {
        "gpuhunt": [asdict(item) for item in items],
        "gpuhunt_eight": [item.instance_name for item in eight],
        "skypilot": {
            name: [info._asdict() for info in infos] for name, infos in listed.items()
        },
        "skypilot_eight": types,
        "skypilot_cost": vast_catalog.get_hourly_cost(types[0]),
        "skypilot_accelerators": vast_catalog.get_accelerators_from_instance_type(
            types[0]
        ),
    },
    sys.stdout,
    default=str,
)
