import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, sync_playwright

from tests.browser import chromium
from tests.browser.site import Site, running_site

FLAGS = (
    "--no-sandbox",  # or root cannot start it
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """
    Keep the journeys in one process of a parallel run: they share one site.
    """
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.xdist_group("site"))


@pytest.fixture(scope="session")
def chromium_path() -> str:
    """
    The browser's path; whoever asks for it is left out where there is none.
    """
    path = chromium.find()
    if path is None:
        pytest.skip(chromium.LEFT_OUT)
    return path


@pytest.fixture(scope="session")
def prepared(chromium_path: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """
    The data of a site that ran once and was stopped: copies of it start sooner.
    """
    home = tmp_path_factory.mktemp("prepared") / "site"
    with running_site(home):
        return home


@pytest.fixture
def home(prepared: Path, tmp_path: Path) -> Path:
    """
    The data of a site of one's own: a market opens only once.
    """
    return Path(shutil.copytree(prepared, tmp_path / "site"))


@pytest.fixture(scope="session")
def site(prepared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """
    The running site that the journeys share; nobody resets it between them.
    """
    home = shutil.copytree(prepared, tmp_path_factory.mktemp("shared") / "site")
    with running_site(home) as site:
        yield site


# Not for the session: while Playwright runs, Django takes its event loop for a sign of
# asynchronous code and refuses to touch the database.
@pytest.fixture(scope="package")
def browser(chromium_path: str) -> Iterator[Browser]:
    """
    A real Chromium.
    """
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium_path, args=[*FLAGS]
        )
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Browser, site: Site) -> Iterator[Page]:
    """
    A page of a new visitor, whose scripts must not fail or break the site's policy.
    """
    context = browser.new_context(base_url=site.url)
    page = context.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda message: faults.extend(policy_faults(message)))
    yield page
    context.close()
    assert faults == []


@pytest.fixture
def plain_page(browser: Browser, site: Site) -> Iterator[Page]:
    """
    A page on a phone that runs no scripts.
    """
    context = browser.new_context(
        base_url=site.url,
        java_script_enabled=False,
        viewport={"width": 390, "height": 800},
    )
    yield context.new_page()
    context.close()


def policy_faults(message: ConsoleMessage) -> list[str]:
    return [message.text] if "Content Security Policy" in message.text else []
