"""
import-linter looks inside packages only; these are single modules.
"""

import ast

import pytest

from config.embedded import CHECKOUT

APPS = {"billing", "catalog", "config", "marketplace", "workspaces"}


@pytest.mark.parametrize(
    "name", ["access", "clock", "csv_files", "formats", "limits", "money"]
)
def test_lowest_modules_import_no_app(name):
    tree = ast.parse((CHECKOUT / f"{name}.py").read_text())

    imported = {
        module.partition(".")[0]
        for node in ast.walk(tree)
        for module in imported_by(node)
    }

    assert imported & APPS == set()


def imported_by(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module or ""] if isinstance(node, ast.ImportFrom) else []
