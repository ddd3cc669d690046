"""
What the source must not do, found by reading it: cheap, and blind to no page.
"""

import ast
import re
from functools import cache
from pathlib import Path

import pytest
from allauth.mfa import app_settings as mfa_settings
from django import forms
from django.contrib import admin

from config import celery_app

ROOT = Path(__file__).parent.parent
OURS = ("access.py", "clock.py", "csv_files.py", "formats.py", "limits.py", "money.py")
APPS = ("config", "marketplace", "workspaces", "billing", "catalog")

# Texts that are escaped before they are marked, each with a test of its own.
MARKS_SAFE = {
    "catalog/templatetags/asks.py",
    "catalog/templatetags/guides.py",
    "catalog/templatetags/structured.py",
    "marketplace/form_renderer.py",
    "marketplace/templatetags/components.py",
}
# Constant questions, put together into one.
JOINS_SQL = {"billing/checks.py"}
# A signature, or an id that nobody guesses, says who is asking; the API changes nothing,
# nor does what browsers report of the policy.
WITHOUT_TOKEN = {
    "billing/webhooks.py",
    "catalog/api/door.py",
    "catalog/views/availability.py",
    "config/csp_reports.py",
}
OUTGOING = {f"requests.{verb}" for verb in ("get", "post", "put", "request")}
# A list of every thing a person may set of an account, and none that staff give.
GIVEN_BY_STAFF = {
    "is_staff",
    "is_superuser",
    "is_active",
    "groups",
    "user_permissions",
    "password",
    "email",
    "balance",
    "status",
    "owner",
    "user",
    "user_id",
    "organization",
    "role",
    "created_at",
    "date_joined",
    "tax_rate",
    "vat_id_status",
    "verified",
    "verified_at",
    "available",
    "held",
    "frozen_at",
}


@cache
def sources():
    paths = [ROOT / name for name in OURS]
    for app in APPS:
        paths += (ROOT / app).rglob("*.py")
    return {
        str(path.relative_to(ROOT)): ast.parse(path.read_text())
        for path in paths
        if "migrations" not in path.parts
    }


def templates():
    return {path: path.read_text() for path in ROOT.glob("templates/**/*.*")}


def calls(name):
    """
    Return the files that call a function or method of this name, but on constants.
    """
    return {
        path
        for path, tree in sources().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and name == called(node.func)
        and not all(
            isinstance(argument, ast.Constant) for argument in node.args or [node]
        )
    }


def called(node):
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else ""


def names(name):
    return {
        path
        for path, tree in sources().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and node.id == name
    }


@pytest.mark.parametrize(
    ("function", "allowed"),
    [
        ("mark_safe", MARKS_SAFE),
        ("RawSQL", set()),
        ("raw", set()),
        ("extra", set()),
        ("eval", set()),
        ("exec", set()),
        ("popen", set()),
        ("utcnow", set()),
        ("print", {"config/launch", "config/venv.py"}),
        # A text that people write is never what values are put into.
        ("format", {"formats.py", "workspaces/recipes/exports.py"}),
        ("format_map", set()),
    ],
)
def test_calls_only_where_it_is_known_to_be_right(function, allowed):
    found = {
        path
        for path in calls(function)
        if not path.startswith(tuple(allowed) or ("-",))
    }

    assert found == set()


@pytest.mark.parametrize("module", ["pickle", "marshal", "shelve", "jsonpickle"])
def test_reads_nothing_that_could_run(module):
    for path, tree in sources().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                assert module not in {name.name for name in node.names}, path


def test_no_form_is_taken_without_a_token():
    assert names("csrf_exempt") == WITHOUT_TOKEN


def test_sql_is_never_put_together_from_values():
    """
    A statement is a text, a constant or a list of both: its values are parameters.
    """
    for path, tree in sources().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and called(node.func) == "execute":
                statement = node.args[0] if node.args else None
                is_made = isinstance(statement, ast.JoinedStr | ast.BinOp) or (
                    isinstance(statement, ast.Call)
                    and called(statement.func) == "format"
                )
                assert not is_made or path in JOINS_SQL, f"{path}:{node.lineno}"


def test_no_process_is_started_through_a_shell():
    for path, tree in sources().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.keyword) and node.arg == "shell":
                raise AssertionError(path)


def test_outgoing_calls_wait_for_a_limited_time_and_follow_nobody():
    seen = set()
    for path, tree in sources().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in OUTGOING:
                given = {keyword.arg for keyword in node.keywords}
                assert {"timeout", "allow_redirects"} <= given, f"{path}:{node.lineno}"
                seen.add(path)

    assert seen == {
        "billing/gateways/deliveries.py",
        "billing/services/rates.py",
        "billing/vies.py",
    }


@pytest.mark.parametrize(
    "pattern",
    [
        r"\|\s*safe\b",
        r"\|\s*safeseq\b",
        r"autoescape\s+off",
        r"<script(?![^>]*(\bsrc=|type=\"application/json\"))",
        r"\sstyle=",
        r"\son[a-z]+=[\"']",
        r"\bhx-on",
        r"=\"js:",
        r"javascript:",
        r"https?://(?!www\.w3\.org)[^\"' ]*\.js\b",
    ],
)
def test_templates_escape_everything_and_run_nothing(pattern):
    found = {
        str(path.relative_to(ROOT))
        for path, text in templates().items()
        if path.suffix == ".html" and re.search(pattern, text)
    }

    # Mail programs know no stylesheets.
    assert found - {"templates/emails/layout.html"} == set()


def all_of(kind):
    for child in kind.__subclasses__():
        yield child
        yield from all_of(child)


def test_a_form_of_the_site_sets_nothing_that_staff_give():
    for form in all_of(forms.ModelForm):
        if form.__module__.partition(".")[0] not in APPS or is_of_admin(form):
            continue
        named = form._meta.fields
        assert isinstance(named, list | tuple), form
        assert not set(named) & GIVEN_BY_STAFF, form
        assert not form._meta.exclude, form


def is_of_admin(form):
    return any(
        isinstance(table.form, type) and issubclass(form, table.form)
        for table in admin.site._registry.values()
        if table.form is not forms.ModelForm
    )


def test_the_books_have_no_form_in_the_admin():
    """
    What may be added or changed by hand is listed here; nothing of money but rates.
    """
    open_tables = {
        model._meta.label
        for model, table in admin.site._registry.items()
        if not type(table).__name__.startswith("ReadOnly")
        and "ReadOnlyAdmin" not in {parent.__name__ for parent in type(table).__mro__}
    }

    money = {label for label in open_tables if label.startswith("billing.")}
    assert money == {"billing.VatRate", "billing.BankAccount"}
    assert not any(table.list_editable for table in admin.site._registry.values())


def test_tasks_speak_json_alone():
    conf = celery_app.conf

    assert conf.task_serializer == "json"
    assert conf.accept_content == conf.result_accept_content == ["json"]
    assert conf.timezone == "UTC"
    assert conf.task_acks_late
    assert conf.task_reject_on_worker_lost
    transport = conf.broker_transport_options
    assert transport["visibility_timeout"] >= 2 * conf.task_time_limit


def test_workers_wait_for_nothing_long_and_give_memory_back():
    conf = celery_app.conf
    transport = conf.broker_transport_options

    assert (conf.worker_prefetch_multiplier, conf.task_ignore_result) == (1, True)
    assert conf.result_backend is None
    assert conf.worker_max_tasks_per_child == 1000
    assert conf.worker_max_memory_per_child == 500_000
    assert transport["unacked_restore_interval"] == 5
    assert transport["unacked_restore_throttle"] == 1
    assert transport["socket_timeout"] <= 5
    assert transport["socket_connect_timeout"] <= 2


def test_no_secret_lies_in_the_checkout():
    secret = re.compile(
        r"\b[sr]k_live_\w{20,}|\bwhsec_[A-Za-z0-9+/]{30,}|\bAKIA[0-9A-Z]{16}\b"
        r"|\bgh[pousr]_\w{36}|-----BEGIN [A-Z ]*PRIVATE KEY-----"
    )
    kept = ("*.py", "*.toml", "*.txt", "*.md", "*.csv", "*.json", "*.yml", "Makefile")
    folders = [*APPS, "tests", "bench", "docs", "templates", "locale"]
    paths = [path for kind in kept for path in ROOT.glob(kind)]
    for folder in folders:
        paths += [path for kind in kept for path in (ROOT / folder).rglob(kind)]

    assert [path for path in paths if secret.search(path.read_text())] == []


def test_a_code_of_a_second_factor_holds_for_its_half_minute_alone():
    assert mfa_settings.TOTP_TOLERANCE == 0
    assert mfa_settings.TOTP_PERIOD == 30
    assert mfa_settings.RECOVERY_CODE_COUNT == 10


def test_secrets_are_compared_in_constant_time():
    for path, tree in sources().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq):
                sides = ast.unparse(node)
                named = re.search(r"token|signature|secret|_mark\b", sides)
                assert not named, f"{path}:{node.lineno}: {sides}"
