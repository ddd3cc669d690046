"""
django-hordak on the same server: a process and an environment of its own.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

CHECKOUT = Path(__file__).parent.parent
HOME = CHECKOUT / ".local" / "bench"
PACKAGES = ["django-hordak==2.0.0", "django>=5.2,<5.3", "psycopg[binary]>=3.3"]


def python() -> Path:
    """
    Return the Python that has hordak, installed on first use.
    """
    own = HOME / "bin" / "python"
    if not own.exists():
        subprocess.run(  # noqa: S603
            [sys.executable, "-m", "venv", HOME], check=True
        )
        subprocess.run([own, "-m", "pip", "install", "--quiet", *PACKAGES], check=True)  # noqa: S603
    return own


class Hordak:
    """
    Asks the process to post, and takes its word for how long that took.
    """

    def __init__(self, server: dict[str, str], *, accounts: int) -> None:
        self.process = subprocess.Popen(  # noqa: S603
            [python(), "-m", "bench.hordak_process", str(accounts)],
            cwd=CHECKOUT,
            env={**os.environ, "HORDAK_SERVER": json.dumps(server)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._answer() == "ready"

    def run(self, way: str, charges: int) -> float:
        """
        Return the seconds that so many charges of two transfers each take.
        """
        assert self.process.stdin is not None
        self.process.stdin.write(f"{way} {charges}\n")
        self.process.stdin.flush()
        return float(self._answer())

    def _answer(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(60)
