import os
import signal
import subprocess
import sys

import pytest

from config.launch import claim, processes

STUBBORN = (
    "import signal, time; signal.signal(15, signal.SIG_IGN);"
    "print('ready', flush=True); time.sleep(60)"
)


@pytest.fixture
def sleeper():
    """
    A process of its own session that sleeps for a minute.
    """
    process = subprocess.Popen(["sleep", "60"], start_new_session=True)
    yield process
    process.kill()
    process.wait()


def test_a_noted_process_is_found_while_it_runs(tmp_path, sleeper):
    processes.note(tmp_path / "it.json", sleeper.pid, url="http://x")

    facts = processes.noted(tmp_path / "it.json")
    assert facts["pid"] == sleeper.pid
    assert facts["url"] == "http://x"

    sleeper.kill()
    sleeper.wait()
    assert processes.noted(tmp_path / "it.json") == {}


def test_a_dead_child_that_nobody_waited_for_has_ended(sleeper):
    sleeper.kill()
    os.waitid(os.P_PID, sleeper.pid, os.WEXITED | os.WNOWAIT)

    assert processes.birth(sleeper.pid) is None


def test_another_process_with_the_same_number_is_not_mistaken(tmp_path, sleeper):
    path = tmp_path / "it.json"
    processes.note(path, sleeper.pid)
    born = processes.birth(sleeper.pid)
    path.write_text(path.read_text().replace(born, f"{born}1"))

    assert processes.noted(path) == {}


@pytest.mark.parametrize("content", ["", "{", '{"pid": 1'])
def test_a_half_written_note_counts_as_none(tmp_path, content):
    (tmp_path / "it.json").write_text(content)

    assert processes.noted(tmp_path / "it.json") == {}


def test_a_missing_note_counts_as_none(tmp_path):
    assert processes.noted(tmp_path / "it.json") == {}


def test_a_process_that_does_not_end_by_itself_is_killed():
    command = [sys.executable, "-c", STUBBORN]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, start_new_session=True
    ) as process:
        assert process.stdout.readline() == b"ready\n"

        processes.end(process.pid, how=signal.SIGTERM, patience=0.1)

        assert process.wait(5) == -signal.SIGKILL


def test_ending_a_process_that_is_gone_does_nothing(sleeper):
    sleeper.kill()
    sleeper.wait()

    processes.end(sleeper.pid, how=signal.SIGTERM, patience=0.1)


def test_a_claim_keeps_a_second_run_out_and_tells_it_where_the_first_is(tmp_path):
    with claim.claimed(tmp_path):
        claim.announce(tmp_path, url="http://localhost:8000", is_ready=True)

        with pytest.raises(claim.AlreadyRuns) as caught, claim.claimed(tmp_path):
            pass

    assert "http://localhost:8000" in str(caught.value)
    assert f"kill {os.getpid()}" in str(caught.value)


def test_a_claim_ends_with_its_run(tmp_path):
    with claim.claimed(tmp_path):
        pass
    with claim.claimed(tmp_path):
        pass


def test_a_run_that_has_not_said_who_it_is_is_just_starting(tmp_path):
    with claim.claimed(tmp_path):
        (tmp_path / "site.json").unlink()

        with pytest.raises(claim.AlreadyRuns, match="just starting"):
            claim.claimed(tmp_path).__enter__()
