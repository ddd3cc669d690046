import os
from pathlib import Path


def home() -> Path:
    return Path(os.environ.get("COREHOUR_HOME", Path(__file__).parent.parent / ".local"))


def database_url() -> str:
    return f"postgres://%2Ftmp%2Fcorehour/corehour"


def redis_url() -> str:
    return "unix:///tmp/corehour/valkey.sock"
