"""
A localstripe that keeps its state in the folder that it is started in.

It names one file under /tmp, which two test runs, or two people, would share.
"""

import builtins
from pathlib import Path

from localstripe import resources, server

STATE = Path("state.pickle").absolute()


def open_here(_path, mode):
    return builtins.open(STATE, mode)


if __name__ == "__main__":
    resources.open = open_here
    server.start()
