"""
Old code and new tables: while a site is updated, both run side by side.
"""

import pytest
from django.db import migrations
from django.db.migrations.loader import MigrationLoader
from django.db.models import NOT_PROVIDED, CharField, IntegerField

# What was there before the first release has no old code beside it.
BEFORE_RELEASE = {"billing": 13, "catalog": 13, "marketplace": 6, "workspaces": 8}
TAKES_AWAY = (
    migrations.RemoveField,
    migrations.RenameField,
    migrations.DeleteModel,
    migrations.RenameModel,
    migrations.AlterModelTable,
)
# "app.0001_name": takes away what no code used in the release before.
NOT_USED_ANY_MORE: set[str] = set()


def is_safe(operation):
    """
    Say whether code that knows nothing of an operation goes on reading and writing.
    """
    if isinstance(operation, migrations.AddField):
        field = operation.field
        has_default = getattr(field, "db_default", NOT_PROVIDED) is not NOT_PROVIDED
        return field.null or field.many_to_many or has_default
    return not isinstance(operation, TAKES_AWAY)


def test_fault_32_no_migration_takes_away_what_running_code_uses():
    found = {
        f"{app}.{name}"
        for (app, name), migration in MigrationLoader(None).disk_migrations.items()
        if int(name[:4]) > BEFORE_RELEASE.get(app, 9999)
        and not all(is_safe(operation) for operation in migration.operations)
    }

    assert found == NOT_USED_ANY_MORE


@pytest.mark.parametrize(
    ("operation", "safe"),
    [
        (migrations.AddField("a", "b", IntegerField(null=True)), True),
        (migrations.AddField("a", "b", IntegerField(db_default=0)), True),
        (migrations.AddField("a", "b", IntegerField(default=0)), False),
        (migrations.AddField("a", "b", CharField(max_length=3, default="")), False),
        (migrations.RemoveField("a", "b"), False),
        (migrations.RenameField("a", "b", "c"), False),
        (migrations.DeleteModel("a"), False),
        (migrations.CreateModel("a", []), True),
    ],
)
def test_knows_which_steps_old_code_survives(operation, safe):
    assert is_safe(operation) is safe
