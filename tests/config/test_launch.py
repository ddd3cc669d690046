"""
The real launcher with real services: what `make run` promises.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import requests

from config import embedded
from config.launch import __main__ as program
from config.launch import address, disk, interruption, processes
from config.launch import launcher as launching
from config.launch.household import WEB, ChildFailed
from config.launch.launcher import listen
from tests.browser.site import Site, launcher, running_site

pytestmark = pytest.mark.xdist_group("site")

SETUP = (
    "from django.core.cache import cache; from django.db import connection;"
    "cursor = connection.cursor();"
)
MAKE_NOTES = (
    "cache.set('note', 'kept', None); cursor.execute('CREATE TABLE note (text text)')"
)
READ_NOTES = (
    "cursor.execute('SELECT to_regclass($$note$$)');"
    "print(cache.get('note'), cursor.fetchone()[0])"
)
NAMES = ("web", "worker", "beat", "valkey", "postgres")


def shell(site: Site, code: str) -> str:
    return site.manage("shell", "--no-imports", "-c", SETUP + code).strip()


def launch(home: Path, **variables: str) -> "subprocess.CompletedProcess[str]":
    """
    Run the launcher where it should end by itself.
    """
    return subprocess.run(
        launcher(),
        cwd=embedded.CHECKOUT,
        env={**os.environ, "COREHOUR_HOME": str(home), "PORT": "0", **variables},
        capture_output=True,
        check=False,
        text=True,
        timeout=60,
    )


def test_data_outlives_a_killed_launcher_until_somebody_starts_over(tmp_path):
    with running_site(tmp_path / "home") as site:
        shell(site, MAKE_NOTES)
        left = {name: site.pid(name) for name in NAMES}
        site.process.kill()
        site.process.wait()
        assert all(processes.birth(pid) for pid in left.values())

    with running_site(tmp_path / "home") as site:
        assert not any(processes.birth(pid) for pid in left.values())
        assert (
            f"the web server of an earlier run (process {left['web']})" in site.said()
        )
        assert "Static files" not in site.said()
        assert shell(site, READ_NOTES) == "kept note"

        pids = [site.pid(name) for name in NAMES]
        assert site.stop() == 0
        assert not any(processes.birth(pid) for pid in pids)
        assert not embedded.socket_folder(site.home).exists()
        assert "Stopped. The data is kept." in site.said()

    # The end of this start does not matter: it has thrown the data away before.
    kept = system_identifier(tmp_path / "home")
    launch(tmp_path / "home", FRESH="1", SECRET_KEY="short")
    assert system_identifier(tmp_path / "home") != kept


def system_identifier(home: Path) -> bytes:
    """
    Return the number that PostgreSQL gives to new data.
    """
    return (home / "postgres" / "global" / "pg_control").read_bytes()[:8]


def test_a_run_survives_a_second_one_and_killed_workers_but_not_a_lost_database(
    tmp_path,
):
    with running_site(tmp_path / "home") as site:
        second = launch(site.home, FRESH="1")
        assert second.returncode == 1
        assert f"{site.url}, process {site.process.pid}" in second.stderr

        site.kill_worker()
        os.killpg(site.beat_pid, signal.SIGKILL)
        wait_until_said(site, "The beat was killed; starting it again.")
        assert "The worker was killed; starting it again." in site.said()
        assert requests.get(f"{site.url}/healthz", timeout=30).text == "ok"

        web = site.web_pid
        os.kill(site.pid("postgres"), signal.SIGKILL)
        assert site.process.wait(60) == 1
        assert "The PostgreSQL server ended by signal 9. The end of" in site.said()
        assert processes.birth(web) is None


def wait_until_said(site: Site, text: str) -> None:
    deadline = time.monotonic() + 60
    while text not in site.said():
        assert time.monotonic() < deadline, site.said()
        time.sleep(0.05)


def test_a_step_that_fails_ends_the_run_and_shows_what_it_said(tmp_path):
    done = launch(tmp_path / "home", SECRET_KEY="short")

    assert done.returncode == 1
    assert "`manage.py migrate` failed" in done.stderr
    assert "SECRET_KEY is too short" in done.stderr
    assert list((tmp_path / "home" / "pid").iterdir()) == []


def test_ctrl_c_in_the_middle_of_the_start_ends_what_runs_already(tmp_path):
    with pytest.raises(AssertionError, match="did not start"):
        interrupt_early(tmp_path / "home")

    assert "Stopped. The data is kept." in (tmp_path / "home/launcher.log").read_text()
    assert list((tmp_path / "home" / "pid").iterdir()) == []


def interrupt_early(home: Path) -> None:
    helper = (
        "import pathlib, signal, os, sys, time, json\n"
        "note = pathlib.Path(sys.argv[1])\n"
        "while not (note / 'pid' / 'valkey.json').exists(): time.sleep(0.01)\n"
        "pid = json.loads((note / 'site.json').read_text())['pid']\n"
        "os.kill(pid, signal.SIGTERM)\n"
    )
    with (
        subprocess.Popen([sys.executable, "-c", helper, str(home)]),
        running_site(home),
    ):
        pass


def test_a_taken_port_is_refused_before_anything_starts(tmp_path):
    sockets = address.listen("0")
    number = sockets[0].getsockname()[1]

    done = launch(tmp_path / "home", PORT=str(number))

    address.close(sockets)
    assert done.returncode == 1
    assert done.stderr.startswith(f"\nPort {number} is taken or not allowed")
    assert done.stdout == ""


def test_without_a_port_the_next_free_one_is_said(monkeypatch, capsys):
    taken = address.listen("0")
    number = taken[0].getsockname()[1]
    monkeypatch.setattr(address, "FIRST_PORT", number)

    sockets = listen(None)

    assert f"Port {number} is taken; the next free one is" in capsys.readouterr().out
    address.close([*taken, *sockets])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_home_of_another_user_is_said_in_plain_words(tmp_path):
    (tmp_path / "home").mkdir(mode=0o500)

    done = launch(tmp_path / "home")

    assert done.returncode == 1
    assert "Did another user run Corehour here before?" in done.stderr


def test_a_site_that_does_not_become_healthy_shows_the_log_of_its_web_server(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(launching, "PATIENCE_WITH_SITE", 0.0)
    (tmp_path / "log").mkdir()
    run = launching.Launcher(tmp_path, interruption.Interruption())
    run.household.log(WEB).write_text("relation does not exist")

    with (
        pytest.raises(ChildFailed, match=r"(?s)healthy.*relation does not exist"),
        run.household.explaining(WEB),
    ):
        run.wait_for_answer(unused_port())


def unused_port() -> int:
    sockets = address.listen("0")
    number = sockets[0].getsockname()[1]
    address.close(sockets)
    return number


def test_a_nearly_full_disk_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(disk, "LEAST_FREE", 10**18)

    with pytest.raises(disk.DiskFull, match="Make room and start again"):
        disk.require_space(tmp_path)


def test_a_disk_with_room_is_accepted(tmp_path, monkeypatch):
    monkeypatch.setattr(disk, "LEAST_FREE", 0)

    disk.require_space(tmp_path)


@pytest.fixture
def small_disk(tmp_path):
    """
    A disk of a few megabytes.
    """
    small = tmp_path / "small"
    small.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(small)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("only root, outside of most containers, can mount a small disk")
    yield small
    subprocess.run(["umount", str(small)], check=True)


def test_a_small_disk_is_said_in_plain_words(small_disk):
    done = launch(small_disk / "home")

    assert done.returncode == 1
    assert "Only 4 MB are free on the disk of" in done.stderr


@pytest.fixture
def signals():
    """
    What the launcher changes in a process that is not its own.
    """
    before = {number: signal.getsignal(number) for number in interruption.SIGNALS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def test_a_disk_that_fills_up_is_said_in_plain_words(
    small_disk, signals, monkeypatch, capsys
):
    monkeypatch.setattr(disk, "LEAST_FREE", 0)
    monkeypatch.setenv("COREHOUR_HOME", str(small_disk / "home"))
    with pytest.raises(OSError, match="No space left"):
        (small_disk / "rest").write_bytes(bytes(5_000_000))

    assert program.main() == 1

    assert "full. Make room and start again." in capsys.readouterr().err
