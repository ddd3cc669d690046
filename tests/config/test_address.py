import socket

import pytest

from config.launch import address


@pytest.fixture
def first_port(monkeypatch):
    """
    The first of a few free ports, which stands for 8000.
    """
    (opened, *others) = address.try_port(0)
    number = opened.getsockname()[1]
    address.close([opened, *others])
    monkeypatch.setattr(address, "FIRST_PORT", number)
    return number


def port_of(sockets) -> int:
    numbers = {opened.getsockname()[1] for opened in sockets}
    address.close(sockets)
    assert len(numbers) == 1
    return numbers.pop()


def test_takes_the_first_port(first_port):
    assert port_of(address.listen(None)) == first_port


@pytest.mark.parametrize(("family", "host"), address.LOOPBACKS)
def test_takes_the_next_free_port_if_one_address_is_taken(first_port, family, host):
    with address.open_socket(family, host, first_port):
        assert port_of(address.listen(None)) > first_port


def test_refuses_an_asked_port_that_is_taken(first_port):
    with (
        address.open_socket(socket.AF_INET, "127.0.0.1", first_port),
        pytest.raises(address.NoPort, match=f"Port {first_port} is taken"),
    ):
        address.listen(str(first_port))


@pytest.mark.parametrize("asked", ["http", "-1", "65536", "80.5", "٣"])
def test_refuses_what_is_no_port(asked):
    with pytest.raises(address.NoPort, match="from 0 to 65535"):
        address.listen(asked)


def test_gives_up_when_all_ports_are_taken(first_port, monkeypatch):
    monkeypatch.setattr(address, "PORTS_TRIED", 1)
    with (
        address.open_socket(socket.AF_INET, "127.0.0.1", first_port),
        pytest.raises(address.NoPort, match="make run PORT="),
    ):
        address.listen(None)


def test_does_without_ipv6_where_there_is_none(first_port, monkeypatch):
    # An address that no machine has stands for a machine without that family.
    loopbacks = (address.LOOPBACKS[0], (socket.AF_INET6, "2001:db8::1"))
    monkeypatch.setattr(address, "LOOPBACKS", loopbacks)

    assert port_of(address.listen(None)) == first_port
