"""
Runs a throw-away PostgreSQL and Valkey until its standard input is closed.

A process of its own: however the test run ends, killed included, its end of the pipe
closes, the servers stop and their folder goes.
"""

import json
import shutil
import sys
import tempfile
from pathlib import Path

from config import embedded, messages
from config.embedded import identity, valkey
from config.embedded.postgres import Cluster


def main() -> None:
    messages.compile_stale(embedded.CHECKOUT / "locale")
    place = Path(tempfile.mkdtemp(prefix="corehour-tests-"))
    cluster = Cluster(place, identity.choose(), is_careless=True)
    servers = []
    try:
        with (place / "log").open("wb") as log:
            servers.append(cluster.start(log))
            servers.append(valkey.start(place, log, append_only=False))
            cluster.wait_until_ready(servers[0])
            valkey.wait_until_ready(place, servers[1])
        urls = {
            "COREHOUR_HOME": str(place),
            "DATABASE_URL": embedded.database_url(place),
            "REDIS_URL": embedded.redis_url(place),
        }
        print(json.dumps(urls), flush=True)
        sys.stdin.read()
    finally:
        for server in servers:
            server.send_signal(2)
        for server in servers:
            server.wait(30)
        cluster.remove()
        shutil.rmtree(place, ignore_errors=True)
        shutil.rmtree(embedded.socket_folder(place), ignore_errors=True)


if __name__ == "__main__":
    main()
