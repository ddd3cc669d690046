"""
import-linter knows packages only; this holds the modules beneath them.
"""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ABOVE = {"config", "marketplace", "workspaces", "billing", "catalog"}


def imports_of(module):
    tree = ast.parse((ROOT / f"{module}.py").read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name.partition(".")[0] for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module.partition(".")[0]


@pytest.mark.parametrize(
    ("module", "may_import"),
    [
        ("money", set()),
        ("formats", {"money"}),
        ("clock", set()),
        ("csv_files", set()),
        ("access", set()),
        ("limits", set()),
    ],
)
def test_imports_nothing_above_it(module, may_import):
    ours = set(imports_of(module)) & (
        ABOVE | {"access", "clock", "csv_files", "formats", "limits", "money"}
    )

    assert ours <= may_import
