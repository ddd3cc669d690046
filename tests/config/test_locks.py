import re
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from config.embedded import CHECKOUT

EXTRAS = {
    "requirements.txt": [],
    "requirements-local.txt": ["local"],
    "requirements-dev.txt": ["local", "dev"],
}


def locked(name: str) -> dict[str, str]:
    text = (CHECKOUT / name).read_text()
    return dict(re.findall(r"^([a-z0-9.-]+)==([^ ;]+)", text, re.MULTILINE))


@pytest.mark.parametrize("name", EXTRAS)
def test_lock_holds_what_the_project_asks_for(name):
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]
    asked = list(project["dependencies"])
    for extra in EXTRAS[name]:
        asked += project["optional-dependencies"][extra]
    versions = locked(name)

    requirements = [Requirement(line) for line in asked]
    stale = [
        each
        for each in requirements
        if not each.specifier.contains(versions[each.name])
    ]

    assert stale == []


@pytest.mark.parametrize("name", EXTRAS)
def test_lock_has_a_hash_for_each_package_and_no_address(name):
    text = (CHECKOUT / name).read_text()
    packages = re.split(r"^(?=[a-z0-9])", text, flags=re.MULTILINE)[1:]

    assert all("--hash=sha256:" in package for package in packages)
    assert "://" not in text


def test_a_larger_lock_holds_the_smaller_ones():
    assert (
        locked("requirements.txt").items() <= locked("requirements-local.txt").items()
    )
    assert (
        locked("requirements-local.txt").items()
        <= locked("requirements-dev.txt").items()
    )


# Versions below these have published holes that this site would be open to.
SAFE_FROM = {
    "django": "5.2.19",  # CVE-2026-77050, CVE-2026-84429, CVE-2025-64459
    "django-allauth": "65.22.1",  # CVE-2026-97764, CVE-2026-27982, CVE-2025-65430
    "pillow": "12.3",  # the memory holes of 2026
    "celery": "5.7.0",  # a worker that hangs on a broker's half-open connection
    "kombu": "5.7.0",
    "redis": "8.1.0",
}


@pytest.mark.parametrize("package", SAFE_FROM)
def test_no_lock_holds_a_version_with_a_known_hole(package):
    for name in EXTRAS:
        assert Version(locked(name)[package]) >= Version(SAFE_FROM[package]), name
