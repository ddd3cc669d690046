"""
Make .venv and install a lock file into it: `python3 config/venv.py requirements.txt`.

Nothing is installed yet when this runs, and the Python may be too old for the rest of
the project: it says what is missing, in words that Python 3.7 understands.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
VENV = CHECKOUT / ".venv"
PYTHON = VENV / "bin" / "python"
OLDEST = (3, 11)
NEWER = ("python3.14", "python3.13", "python3.12", "python3.11")
LEAST_FREE = 1_000_000_000  # bytes

# What pip says when it fails, and what to do about it.
REMEDIES = (
    (
        "No space left on device",
        "The disk is full: make room and start again.",
    ),
    (
        "Python.h",
        "A package has to be compiled here and Python's header files are missing. "
        "On Debian: apt install python3-dev build-essential",
    ),
    (
        "unable to execute",
        "A package has to be compiled here and the compiler is missing. "
        "On Debian: apt install python3-dev build-essential",
    ),
    (
        "THESE PACKAGES DO NOT MATCH THE HASHES",
        "A package is not the one that was locked: do not install it. If the lock "
        "file is old, `make lock` makes it anew.",
    ),
    (
        "NewConnectionError",
        "The package index does not answer: check the network and start again.",
    ),
    (
        "No matching distribution found",
        "The package index does not have a locked version for this Python.",
    ),
)


def main(lock_name: str) -> None:
    if sys.version_info < OLDEST:
        use_newer_python()
    lock = CHECKOUT / lock_name
    if is_installed(lock):
        return
    require_space()
    if not works(PYTHON):
        make_venv()
    install(lock)


def use_newer_python() -> None:
    for name in NEWER:
        path = shutil.which(name)
        if path:
            os.execv(path, [path, *sys.argv])
    sys.exit(
        f"Corehour needs Python 3.11 or newer, and {sys.executable} is "
        f"{sys.version_info[0]}.{sys.version_info[1]}. Install a newer one, or name "
        "it: make run PYTHON=/path/to/python3"
    )


def is_installed(lock: Path) -> bool:
    """
    Return whether .venv works and holds `lock`, or the developers' lock, as it is now.
    """
    stamps = [(stamp_of(each), each) for each in {lock, dev_lock()}]
    return works(PYTHON) and any(
        stamp.exists() and stamp.read_text() == fingerprint(each)
        for stamp, each in stamps
    )


def dev_lock() -> Path:
    """
    Return the lock that holds everything that the other locks hold.
    """
    return CHECKOUT / "requirements-dev.txt"


def stamp_of(lock: Path) -> Path:
    return VENV / (lock.stem + ".sha256")


def fingerprint(lock: Path) -> str:
    return hashlib.sha256(lock.read_bytes()).hexdigest()


def works(python: Path) -> bool:
    """
    Return whether `python` runs, which it does not after a change of the system's one.
    """
    if not python.exists():
        return False
    check = f"import pip, sys; sys.exit(sys.version_info < {OLDEST})"
    done = subprocess.run([str(python), "-c", check], capture_output=True, check=False)
    return done.returncode == 0


def require_space() -> None:
    free = shutil.disk_usage(str(CHECKOUT)).free
    if free < LEAST_FREE:
        sys.exit(
            f"Only {free // 1_000_000} MB are free on the disk of {CHECKOUT}; "
            f"the packages need {LEAST_FREE // 1_000_000} MB."
        )


def make_venv() -> None:
    for module in ("venv", "ensurepip"):
        if importlib.util.find_spec(module) is None:
            sys.exit(
                f"Python's module {module} is missing. On Debian and Ubuntu: apt "
                f"install python{sys.version_info[0]}.{sys.version_info[1]}-venv"
            )
    started = begin("Virtual environment in .venv")
    command = [sys.executable, "-m", "venv", "--clear", str(VENV)]
    run(command)
    finish(started)


def install(lock: Path) -> None:
    started = begin("Packages of " + lock.name)
    options = ["--quiet", "--no-input", "--disable-pip-version-check"]
    # Most modules are never imported; the others are compiled when they are.
    options.append("--no-compile")
    pip = [str(PYTHON), "-m", "pip", "install", *options]
    run([*pip, "--require-hashes", "-r", str(lock)])
    stamp_of(lock).write_text(fingerprint(lock))
    finish(started)


def run(command: list[str]) -> None:
    """
    Run a command quietly; end with what it said, and a remedy if one is known.
    """
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
    if done.returncode == 0:
        return
    said = done.stdout.decode(errors="replace")
    advice = [remedy for sign, remedy in REMEDIES if sign in said]
    last_lines = "\n".join("    " + line for line in said.splitlines()[-20:])
    sys.exit("\n\n".join(["not done", last_lines, *advice[:1]]))


def begin(what: str) -> float:
    print(f"  {what:<44}", end="", flush=True)
    return time.monotonic()


def finish(started: float) -> None:
    print(f"{time.monotonic() - started:6.1f} s", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
