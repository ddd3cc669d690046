import re
import subprocess
import sys

import pytest

from config import venv

UNKNOWN = f"corehour-no-such-package==1 --hash=sha256:{64 * '0'}\n"


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """
    A checkout without a .venv, whose locks ask for nothing.
    """
    for name in ("requirements-local.txt", "requirements-dev.txt"):
        (tmp_path / name).write_text(f"# {name}\n")
    monkeypatch.setattr(venv, "CHECKOUT", tmp_path)
    monkeypatch.setattr(venv, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(venv, "PYTHON", tmp_path / ".venv" / "bin" / "python")
    return tmp_path


def steps(capsys) -> list[str]:
    """
    Return what was done since the last call, one line a step, without the seconds.
    """
    said = capsys.readouterr().out
    return re.findall(r"(?:Virtual|Packages) \S+ \S+", said)


def test_packages_are_installed_when_there_is_a_reason_and_only_then(checkout, capsys):
    environment, local, dev = (
        "Virtual environment in",
        "Packages of requirements-local.txt",
        "Packages of requirements-dev.txt",
    )
    venv.main("requirements-local.txt")
    assert steps(capsys) == [environment, local]

    venv.main("requirements-local.txt")
    assert steps(capsys) == []

    (checkout / "requirements-local.txt").write_text(UNKNOWN)
    for _ in range(2):
        with pytest.raises(SystemExit, match="corehour-no-such-package"):
            venv.main("requirements-local.txt")
    assert steps(capsys) == [local, local]

    # The developers' packages serve a run too.
    venv.main("requirements-dev.txt")
    venv.main("requirements-local.txt")
    assert steps(capsys) == [dev]

    # The system's Python went away under the environment.
    venv.PYTHON.unlink()
    venv.PYTHON.symlink_to("/usr/bin/no-such-python")
    assert not venv.works(venv.PYTHON)
    assert not venv.is_installed(checkout / "requirements-dev.txt")


@pytest.mark.parametrize(
    ("said", "remedy"),
    [
        ("fatal error: Python.h: No such file or directory", "apt install python3-dev"),
        ("error: [Errno 28] No space left on device", "The disk is full"),
        ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM", "do not install it"),
        ("NewConnectionError: Failed to establish", "check the network"),
    ],
)
def test_a_known_failure_comes_with_its_remedy(said, remedy):
    with pytest.raises(SystemExit) as caught:
        venv.run([sys.executable, "-c", f"print({said!r}); raise SystemExit(1)"])

    assert said in str(caught.value)
    assert remedy in str(caught.value)


def test_a_missing_module_of_python_is_named(checkout, monkeypatch):
    monkeypatch.setattr(venv.importlib.util, "find_spec", lambda name: None)

    with pytest.raises(SystemExit, match=r"apt install python3\.\d+-venv"):
        venv.main("requirements-local.txt")

    assert not venv.VENV.exists()


def test_a_nearly_full_disk_is_refused(checkout, monkeypatch):
    monkeypatch.setattr(venv, "LEAST_FREE", 10**18)

    with pytest.raises(SystemExit, match="the packages need"):
        venv.main("requirements-local.txt")


def test_an_old_python_is_refused_if_there_is_no_newer_one(checkout, monkeypatch):
    monkeypatch.setattr(venv, "OLDEST", (99, 0))
    monkeypatch.setenv("PATH", str(checkout))

    with pytest.raises(SystemExit, match=r"make run PYTHON=/path/to/python3"):
        venv.main("requirements-local.txt")


def test_an_old_python_hands_over_to_a_newer_one(checkout):
    newer = checkout / "python3.13"
    newer.write_text('#!/bin/sh\necho "newer: $@"\n')
    newer.chmod(0o755)
    code = (
        "import sys; from config import venv; venv.OLDEST = (99, 0);"
        "sys.argv = ['config/venv.py', 'x.txt']; venv.main('x.txt')"
    )

    said = subprocess.check_output(
        [sys.executable, "-c", code], env={"PATH": str(checkout)}, text=True
    )

    assert said == "newer: config/venv.py x.txt\n"
