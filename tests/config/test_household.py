import subprocess
import sys
import time
from pathlib import Path
from signal import SIGKILL, SIGTERM

import pytest

from config.embedded import CannotStart
from config.launch import household, processes
from config.launch.household import (
    BEAT,
    VALKEY,
    WEB,
    WORKER,
    Child,
    ChildFailed,
    Household,
)

SLEEP = "import time; print('slept', flush=True); time.sleep(60)"
STUBBORN = (
    "import signal, time; signal.signal(15, signal.SIG_IGN);"
    "print('ready', flush=True); time.sleep(60)"
)


def program(code: str):
    return lambda log: subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=log,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )


@pytest.fixture
def home(tmp_path):
    home = Household(tmp_path)
    yield home
    home.end()


def test_a_killed_worker_comes_back(home, capsys):
    first = home.start(WORKER, program(SLEEP))

    first.kill()
    first.wait()
    home.look()

    assert home.children[0].process.pid != first.pid
    assert home.children[0].process.poll() is None
    assert "The worker was killed; starting it again." in capsys.readouterr().out


def test_a_worker_that_is_killed_again_and_again_ends_the_run(home):
    home.start(WORKER, program(SLEEP))

    for _ in range(household.COMEBACKS):
        kill(home.children[0])
        home.look()

    kill(home.children[0])
    with pytest.raises(ChildFailed, match="The worker ended by signal 9"):
        home.look()


def kill(child: Child) -> None:
    child.process.kill()
    child.process.wait()


@pytest.mark.parametrize("kind", [WORKER, BEAT, WEB])
def test_a_child_that_ends_by_itself_ends_the_run_with_its_last_words(home, kind):
    code = (
        "print('\\n'.join(map(str, range(100))), flush=True);"
        "raise SystemExit('no such table')"
    )
    child = home.start(kind, program(code))
    child.wait()

    with pytest.raises(ChildFailed) as caught:
        home.look()

    assert f"The {kind.title} ended with status 1." in str(caught.value)
    assert "no such table" in str(caught.value)
    assert "    80\n" not in str(caught.value)
    assert "    81\n" in str(caught.value)


def test_a_killed_web_server_ends_the_run(home):
    child = home.start(WEB, program(SLEEP))
    child.kill()
    child.wait()

    with pytest.raises(ChildFailed, match="The web server ended by signal 9"):
        home.look()


def test_the_children_of_a_killed_child_end_too(home):
    child = home.start(
        WORKER,
        program(
            "import subprocess, time;"
            "print(subprocess.Popen(['sleep', '60']).pid, flush=True); time.sleep(60)"
        ),
    )
    grandchild = int(first_line(home.log(WORKER)))

    child.kill()
    child.wait()
    home.look()

    processes.wait_for_end(grandchild, processes.birth(grandchild), 5)
    assert processes.birth(grandchild) is None


def first_line(log: Path) -> str:
    deadline = time.monotonic() + 10
    while "\n" not in log.read_text() and time.monotonic() < deadline:
        time.sleep(0.02)
    return log.read_text().splitlines()[0]


def test_all_end_and_a_stubborn_one_is_killed(home, monkeypatch, capsys):
    monkeypatch.setattr(household, "PATIENCE", 0.3)
    polite = home.start(WEB, program(SLEEP))
    stubborn = home.start(VALKEY, program(STUBBORN))
    assert first_line(home.log(VALKEY)) == "ready"

    home.end()

    assert polite.returncode == -SIGTERM
    assert stubborn.returncode == -SIGKILL
    assert "The Valkey server does not end by itself" in capsys.readouterr().out
    assert not any((home.home / "pid").iterdir())


def test_leftovers_of_a_killed_launcher_end(home, tmp_path, capsys):
    left = home.start(WORKER, program(SLEEP))

    Household(tmp_path).end_leftovers()

    assert left.wait(5) == -SIGTERM
    assert f"an earlier run (process {left.pid})" in capsys.readouterr().out


def test_the_log_of_the_run_before_is_kept_beside(home):
    for _ in range(2):
        home.start(WEB, program("print('hello')")).wait()
        home.children = []

    assert (home.home / "log" / "web.log").read_text() == "hello\n"
    assert (home.home / "log" / "web.log.1").read_text() == "hello\n"


def test_an_error_about_a_child_shows_its_log(home):
    home.start(VALKEY, program("print('Out of memory')")).wait()

    with (
        pytest.raises(ChildFailed, match=r"(?s)No luck\..*Out of memory"),
        home.explaining(VALKEY),
    ):
        raise CannotStart("No luck.")


def test_an_error_about_a_child_without_a_log_stands_alone(home):
    with pytest.raises(ChildFailed, match=r"^No luck\.$"), home.explaining(VALKEY):
        raise CannotStart("No luck.")


def test_a_child_that_cannot_be_noted_down_does_not_run(home):
    (home.home / "pid" / "web.part").mkdir()
    started = []

    def spawn(log):
        started.append(program(SLEEP)(log))
        return started[0]

    with pytest.raises(IsADirectoryError):
        home.start(WEB, spawn)

    assert started[0].returncode == -SIGKILL
