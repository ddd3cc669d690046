"""
One run of the site, from the services up.
"""

import http.client
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from http import HTTPStatus
from pathlib import Path
from typing import IO

from config import embedded
from config.embedded import CHECKOUT, CannotStart, identity, valkey
from config.embedded.postgres import Cluster
from config.launch import address, claim, disk, processes
from config.launch.household import (
    BEAT,
    PATIENCE,
    POSTGRES,
    VALKEY,
    WEB,
    WORKER,
    Household,
    Process,
)
from config.launch.interruption import Interruption, Stopped
from config.launch.steps import Preparation, environment
from config.launch.terminal import say, step
from marketplace import demo_logins

WEB_COMMAND = (
    *("gunicorn", "config.wsgi:application", "--preload", "--no-control-socket"),
    *("--workers", "2", "--threads", "4", "--graceful-timeout", "5"),
    *("--access-logfile", "-"),
)
WORKER_COMMAND = (
    *("celery", "-A", "config", "worker", "--concurrency", "2", "--loglevel", "INFO"),
    *("--without-gossip", "--without-mingle"),
)
PATIENCE_WITH_SITE = 60.0  # seconds
BEAT_COMMAND = ("celery", "-A", "config", "beat", "--loglevel", "INFO")


class SiteFailed(CannotStart):
    """
    The web server runs and does not serve.
    """


class Launcher:
    """
    One run of the site on the data in `home`, which this process has claimed.
    """

    def __init__(self, home: Path, interruption: Interruption) -> None:
        self.home = home
        self.interruption = interruption
        self.household = Household(home)
        self.cluster = Cluster(home, identity.choose())

    def run(self, *, port: str | None, is_fresh: bool) -> None:
        """
        Run the site until somebody asks for its end; then end all of it.

        :raises Stopped: if somebody did
        :raises CannotStart: if something failed before that
        """
        self.clear_up()
        if is_fresh:
            self.start_over()
        disk.require_space(self.home)
        sockets = listen(port)
        try:
            self.bring_up(sockets)
            self.watch()
        except Stopped:
            say("\nStopping …")
            raise
        finally:
            address.close(sockets)
            self.household.end()
            shutil.rmtree(embedded.socket_folder(self.home), ignore_errors=True)

    def bring_up(self, sockets: list[socket.socket]) -> None:
        """
        Start everything in its order and tell where the site is.
        """
        url = f"http://localhost:{sockets[0].getsockname()[1]}"
        claim.announce(self.home, url=url, is_ready=False)
        variables = environment(self.home, url)
        preparation = Preparation(self.home, variables, self.interruption)
        with closing(preparation):
            self.start_services()
            preparation.run()
        self.start_site(sockets, variables)
        claim.announce(self.home, url=url, is_ready=True)
        greet(url, self.home, self.cluster.root)

    def clear_up(self) -> None:
        """
        End what a launcher left behind that could not do so itself.
        """
        self.household.end_leftovers()
        if pid := self.cluster.leftover():
            say(f"Ending the {POSTGRES.title} of an earlier run (process {pid}).")
            processes.end(pid, how=POSTGRES.farewell, patience=PATIENCE)

    def start_over(self) -> None:
        with step("Removing the data of earlier runs"):
            self.cluster.remove()
            for name in ("valkey", "beat"):
                shutil.rmtree(self.home / name, ignore_errors=True)
            (self.home / "clock").unlink(missing_ok=True)

    def start_services(self) -> None:
        with step("PostgreSQL 18"), self.household.explaining(POSTGRES):
            server = self.household.start(POSTGRES, self.cluster.start)
            self.cluster.wait_until_ready(server, self.interruption.pause)
        with step("Valkey"), self.household.explaining(VALKEY):
            store = self.household.start(
                VALKEY, lambda log: valkey.start(self.home, log)
            )
            valkey.wait_until_ready(self.home, store, self.interruption.pause)

    def start_site(
        self, sockets: list[socket.socket], variables: Mapping[str, str]
    ) -> None:
        """
        Start web server, worker and beat, and return once the site answers.

        Worker and beat come last: what they wait for need not keep people waiting.
        """
        numbers = [opened.fileno() for opened in sockets]
        binds = [word for number in numbers for word in ("--bind", f"fd://{number}")]
        (self.home / "beat").mkdir(exist_ok=True)
        beat = (*BEAT_COMMAND, "--schedule", str(self.home / "beat" / "schedule"))

        def spawner(
            command: tuple[str, ...], pass_fds: list[int]
        ) -> Callable[[IO[bytes]], Process]:
            return lambda log: spawn(command, variables, log, pass_fds)

        port = sockets[0].getsockname()[1]
        with step("Web server"), self.household.explaining(WEB):
            self.household.start(WEB, spawner((*WEB_COMMAND, *binds), numbers))
            # The web server has them now; a dead one must not leave them open here.
            address.close(sockets)
            self.wait_for_answer(port)
        with step("Worker and beat"):
            self.household.start(WORKER, spawner(WORKER_COMMAND, []))
            self.household.start(BEAT, spawner(beat, []))

    def wait_for_answer(self, port: int) -> None:
        """
        Return once the site is healthy.

        :raises SiteFailed: if it is not after a minute
        """
        deadline = time.monotonic() + PATIENCE_WITH_SITE
        while not answers(port):
            if time.monotonic() > deadline:
                raise SiteFailed("The site does not become healthy.")
            self.household.look()
            self.interruption.pause()

    def watch(self) -> None:
        while True:
            self.household.look()
            self.interruption.pause()


def spawn(
    command: tuple[str, ...],
    variables: Mapping[str, str],
    log: IO[bytes],
    pass_fds: list[int],
) -> Process:
    """
    Start a Python program in a session of its own.
    """
    return subprocess.Popen(
        [sys.executable, "-m", *command],
        cwd=CHECKOUT,
        env=variables,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=subprocess.STDOUT,
        pass_fds=pass_fds,
        start_new_session=True,
    )


def listen(port: str | None) -> list[socket.socket]:
    """
    Open the site's sockets, and say so if they are not where they usually are.
    """
    sockets = address.listen(port)
    number = sockets[0].getsockname()[1]
    if port is None and number != address.FIRST_PORT:
        say(f"Port {address.FIRST_PORT} is taken; the next free one is {number}.")
    return sockets


def answers(port: int) -> bool:
    """
    Return whether the site answers its health check.
    """
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=1)
    try:
        connection.request("GET", "/healthz", headers={"Host": "localhost"})
        return connection.getresponse().status == HTTPStatus.OK
    except OSError:
        return False
    finally:
        connection.close()


def greet(url: str, home: Path, database: Path) -> None:
    where = f"{home}, the database in {database}" if database != home else f"{home}"
    say(
        f"\nCorehour runs at {url}\n\n"
        f"  renter    {demo_logins.RENTER}\n"
        f"  supplier  {demo_logins.SUPPLIER}\n"
        f"  staff     {demo_logins.STAFF}\n"
        f"  password of all: {demo_logins.PASSWORD}\n\n"
        f"Data and logs are in {where}.\n"
        "Ctrl-C stops it and keeps the data; `make run FRESH=1` starts over."
    )
