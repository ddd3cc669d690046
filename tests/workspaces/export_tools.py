"""
The environment with dstack and SkyPilot, whose parsers the exported tasks must please.

`make test` runs this beside the tests, which wait for it where they need it: the
packages are many, and nothing else does.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

CHECKOUT = Path(__file__).parent.parent.parent
LOCK = CHECKOUT / "requirements-export.txt"
ENVIRONMENT = CHECKOUT / ".local" / "export-tools"
PYTHON = ENVIRONMENT / "bin" / "python"
STAMP = ENVIRONMENT / "lock.sha256"
MAKING = CHECKOUT / ".local" / "export-tools.pid"
LONGEST = 600  # seconds


def fingerprint() -> str:
    return hashlib.sha256(LOCK.read_bytes()).hexdigest()


def is_made() -> bool:
    return STAMP.exists() and STAMP.read_text() == fingerprint()


def is_being_made() -> bool:
    try:
        os.kill(int(MAKING.read_text()), 0)
    except (FileNotFoundError, ValueError, ProcessLookupError):
        return False
    return True


def wait_until_made() -> bool:
    """
    Return whether it is there, once nobody is making it any more.
    """
    end = time.monotonic() + LONGEST
    while is_being_made() and time.monotonic() < end:
        time.sleep(0.5)
    return is_made()


def make() -> None:
    if is_made() or is_being_made():
        return
    MAKING.parent.mkdir(exist_ok=True)
    MAKING.write_text(str(os.getpid()))
    try:
        shutil.rmtree(ENVIRONMENT, ignore_errors=True)
        run(sys.executable, "-m", "venv", str(ENVIRONMENT))
        pip = ["-m", "pip", "install", "--quiet", "--no-input", "--no-compile"]
        pip += ["--disable-pip-version-check", "--require-hashes", "-r", str(LOCK)]
        run(str(PYTHON), *pip)
        STAMP.write_text(fingerprint())
    finally:
        MAKING.unlink(missing_ok=True)


def run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:]
        sys.exit(f"The parsers of exported tasks could not be installed: {last}")


if __name__ == "__main__":
    make()
