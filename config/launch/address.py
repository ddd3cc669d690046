"""
The address of the site: the sockets are opened here and handed to the web server, so
nobody can take the port in between.
"""

import errno
import socket

from config.embedded import CannotStart

FIRST_PORT = 8000
PORTS_TRIED = 100
LOOPBACKS = ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1"))
WITHOUT_IPV6 = {errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT, errno.EPROTONOSUPPORT}


class NoPort(CannotStart):
    """
    The site cannot listen where it should.
    """


def listen(asked: str | None) -> list[socket.socket]:
    """
    Return sockets that listen on the asked port, or on the first free one from 8000 on.

    Browsers try both addresses of "localhost", so a port counts as free only if it is
    free on both. Port 0 stands for any free one.

    :raises NoPort: if the asked port is taken or is no port, or a hundred are taken
    """
    if asked is None:
        for port in range(FIRST_PORT, FIRST_PORT + PORTS_TRIED):
            if sockets := try_port(port):
                return sockets
        raise NoPort(
            f"The ports {FIRST_PORT} to {FIRST_PORT + PORTS_TRIED - 1} are all taken: "
            "choose another one with `make run PORT=…`."
        )
    if not (asked.isascii() and asked.isdigit() and int(asked) < 65536):
        raise NoPort(f"PORT={asked}: write a number from 0 to 65535.")
    if sockets := try_port(int(asked)):
        return sockets
    raise NoPort(
        f"Port {asked} is taken or not allowed: choose another one, or leave PORT out "
        f"for the first free one from {FIRST_PORT} on."
    )


def try_port(port: int) -> list[socket.socket]:
    """
    Return one listening socket for each loopback address, or none if one is taken.
    """
    sockets: list[socket.socket] = []
    for family, host in LOOPBACKS:
        try:
            sockets.append(open_socket(family, host, port))
        except OSError as error:
            if family == socket.AF_INET6 and error.errno in WITHOUT_IPV6:
                continue
            close(sockets)
            return []
        port = sockets[0].getsockname()[1]
    return sockets


def open_socket(family: socket.AddressFamily, host: str, port: int) -> socket.socket:
    """
    Return a socket that listens on `host` and `port`.

    :raises OSError: if it may not
    """
    opened = socket.socket(family, socket.SOCK_STREAM)
    try:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            opened.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        opened.bind((host, port))
        opened.listen(512)
    except OSError:
        opened.close()
        raise
    return opened


def close(sockets: list[socket.socket]) -> None:
    for opened in sockets:
        opened.close()
