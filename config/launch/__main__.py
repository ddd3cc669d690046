"""
`python -m config.launch`, with PORT and FRESH in the environment.
"""

import os
import sys
from pathlib import Path

from config import embedded
from config.embedded import CannotStart
from config.launch import disk
from config.launch.claim import claimed
from config.launch.interruption import Interruption, Stopped
from config.launch.launcher import Launcher
from config.launch.terminal import say


def main() -> int:
    """
    Run the site until Ctrl-C and return the exit status.
    """
    home = embedded.home()
    try:
        run(home)
    except Stopped:
        say("Stopped. The data is kept.")
        return 0
    except CannotStart as error:
        complaints = [str(error), *shortages(home)]
    except PermissionError as error:
        complaints = [f"{error}. Did another user run Corehour here before?"]
    except OSError as error:
        if error.errno not in disk.DISK_FULL:
            raise
        complaints = [f"The disk of {home} is full. Make room and start again."]
    print("\n" + "\n\n".join(dict.fromkeys(complaints)), file=sys.stderr)
    return 1


def run(home: Path) -> None:
    """
    Run the site on the data in `home`.

    :raises Stopped: when somebody asks for its end
    :raises CannotStart: if it does not start, or does not go on
    """
    interruption = Interruption()
    interruption.listen()
    with claimed(home):
        Launcher(home, interruption).run(
            port=os.environ.get("PORT") or None,
            is_fresh=os.environ.get("FRESH", "") not in {"", "0"},
        )


def shortages(home: Path) -> list[str]:
    """
    Return what else explains a failure.
    """
    complaint = disk.shortage(home) if home.exists() else ""
    return [complaint] if complaint else []


if __name__ == "__main__":
    sys.exit(main())
