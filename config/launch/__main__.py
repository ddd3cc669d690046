"""
`python -m config.launch`, with PORT and FRESH in the environment.
"""

import errno
import os
import sys

from config import embedded
from config.embedded import CannotStart
from config.launch.claim import claimed
from config.launch.interruption import Interruption, Stopped
from config.launch.launcher import Launcher
from config.launch.terminal import say

DISK_FULL = {errno.ENOSPC, errno.EDQUOT}


def main() -> int:
    """
    Run the site until Ctrl-C and return the exit status.
    """
    interruption = Interruption()
    interruption.listen()
    home = embedded.home()
    try:
        with claimed(home):
            Launcher(home, interruption).run(
                port=os.environ.get("PORT") or None,
                is_fresh=os.environ.get("FRESH", "") not in {"", "0"},
            )
    except Stopped:
        say("Stopped. The data is kept.")
        return 0
    except CannotStart as error:
        print(f"\n{error}", file=sys.stderr)
    except OSError as error:
        if error.errno not in DISK_FULL:
            raise
        print(
            f"\nThe disk of {home} is full. Make room and start again.", file=sys.stderr
        )
    return 1


if __name__ == "__main__":
    sys.exit(main())
