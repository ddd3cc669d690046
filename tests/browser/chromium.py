"""
Finds the Chromium of the browser tests; run as a program, it installs a missing one.
"""

import os
import shutil
import subprocess
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome")
LEFT_OUT = (
    "Browser tests are left out: there is no Chromium here, and only root on Debian "
    "gets one by itself. Install it (on Debian: apt install chromium) to run them."
)


def find() -> str | None:
    """
    Return the path of the browser, or None if there is none.
    """
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def can_install() -> bool:
    release = Path("/etc/os-release")
    is_debian = release.exists() and "\nID=debian\n" in f"\n{release.read_text()}\n"
    return is_debian and os.geteuid() == 0


def install() -> None:
    """
    Install Debian's Chromium.

    :raises subprocess.CalledProcessError: if apt fails, having said why
    """
    print("Installing Chromium for the browser tests …", flush=True)
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for words in (
        ("update", "-qq"),
        ("install", "-qq", "-y", "--no-install-recommends", "chromium"),
    ):
        subprocess.run(
            ["apt-get", *words],
            check=True,
            env=quiet,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )


def main() -> None:
    if find():
        return
    if can_install():
        try:
            install()
        except subprocess.CalledProcessError:
            print(LEFT_OUT)
    else:
        print(LEFT_OUT)


if __name__ == "__main__":
    main()
