"""
Ctrl-C and `kill`, noticed only where the launcher waits, never in mid-step.
"""

import signal
import time
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
GLANCE = 0.05  # seconds between two looks


class Stopped(Exception):
    """
    Somebody asked for the end of the run.
    """


class Interruption:
    """
    Whether the run should end; whoever waits, waits here.
    """

    def __init__(self) -> None:
        self.is_asked_for = False

    def listen(self) -> None:
        for number in SIGNALS:
            # A run under nohup outlives its terminal.
            if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, self._hear)

    def pause(self) -> None:
        """
        Let a moment pass.

        :raises Stopped: if the run should end
        """
        if self.is_asked_for:
            raise Stopped
        time.sleep(GLANCE)

    def _hear(self, number: int, frame: FrameType | None) -> None:
        self.is_asked_for = True
