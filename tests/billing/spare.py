"""
A second PostgreSQL that a test may crash, and a proxy that loses the answer of a commit.
"""

import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg
from django.db import connection

from config import embedded
from config.embedded import identity
from config.embedded.postgres import Cluster, PostgresFailed


@contextmanager
def pointed_at(folder):
    """
    Let Django find its database behind the sockets of another folder.
    """
    settings = connection.settings_dict
    before = settings["HOST"]
    connection.close()
    settings["HOST"] = str(folder)
    try:
        yield
    finally:
        connection.close()
        settings["HOST"] = before


class Spare:
    """
    A PostgreSQL of its own, on a small disk where root can make one.
    """

    def __init__(self):
        self.place = Path(tempfile.mkdtemp(prefix="corehour-spare-"))
        mount = ["mount", "-t", "tmpfs", "-o", "size=250m", "tmpfs", str(self.place)]
        mounted = subprocess.run(mount, capture_output=True, check=False)
        self.cluster = Cluster(self.place, identity.choose())
        self.is_small = not mounted.returncode and self.cluster.root == self.place
        self.was_mounted = not mounted.returncode

    def start(self):
        """
        Start the server; after a kill its children are still about to end.
        """
        for _try in range(40):
            with suppress(PostgresFailed):
                self.try_to_start()
                return
            time.sleep(0.25)
        self.try_to_start()

    def try_to_start(self):
        self.cluster.leftover()
        with (self.place / "log").open("ab") as log:
            self.process = self.cluster.start(log)
        self.cluster.wait_until_ready(self.process)

    def end(self, how=signal.SIGINT):
        with suppress(ProcessLookupError):
            self.process.send_signal(how)
        self.process.wait(30)

    def remove(self):
        self.end()
        self.cluster.remove()
        if self.was_mounted:
            subprocess.run(["umount", str(self.place)], check=True)
        shutil.rmtree(self.place, ignore_errors=True)
        shutil.rmtree(embedded.socket_folder(self.place), ignore_errors=True)

    def order(self, statement):
        """
        Run a statement that only a superuser may run.
        """
        with psycopg.connect(
            host=str(self.cluster.sockets),
            user="postgres",
            dbname="postgres",
            autocommit=True,
        ) as own:
            own.execute(statement)

    def program(self, name):
        return str(self.cluster._programs() / name)


def back_up(spare, path):
    """
    Write what the tests' database holds into a file, as README.md says.
    """
    settings = connection.settings_dict
    names = ["-h", settings["HOST"], "-U", settings["USER"], settings["NAME"]]
    command = [spare.program("pg_dump"), "-Fc", "-f", str(path), *names]
    subprocess.run(command, check=True, capture_output=True)


def restore(spare, path):
    """
    Make the database anew in the spare PostgreSQL from such a file.
    """
    name = connection.settings_dict["NAME"]
    spare.order(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
    spare.order(f'CREATE DATABASE "{name}" OWNER corehour')
    names = ["-h", str(spare.cluster.sockets), "-U", "corehour", "-d", name]
    command = [spare.program("pg_restore"), "--exit-on-error", *names, str(path)]
    subprocess.run(command, check=True, capture_output=True)


@contextmanager
def answers_lost():
    """
    Yield a folder of sockets behind which every commit is done and never answered.
    """
    upstream = f"{connection.settings_dict['HOST']}/{embedded.POSTGRES_SOCKET}"
    folder = tempfile.mkdtemp(prefix="corehour-proxy-")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(f"{folder}/{embedded.POSTGRES_SOCKET}")
    listener.listen()

    def serve():
        with suppress(OSError):
            while True:
                client, _address = listener.accept()
                with client, socket.socket(socket.AF_UNIX) as server:
                    server.connect(upstream)
                    _pass_on(client, server)

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield folder
    finally:
        listener.close()
        shutil.rmtree(folder)


def _pass_on(client, server):
    """
    Pass questions and answers on until the answer to a commit is due.
    """
    is_over = threading.Event()

    def answer():
        with suppress(OSError):
            while data := server.recv(65536):
                if is_over.is_set():
                    break
                client.sendall(data)
        client.close()

    thread = threading.Thread(target=answer, daemon=True)
    thread.start()
    with suppress(OSError):
        while data := client.recv(65536):
            if b"COMMIT" in data:
                is_over.set()
            server.sendall(data)
            if is_over.is_set():
                break
    thread.join(5)
