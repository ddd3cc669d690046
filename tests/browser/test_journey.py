"""
The main job, from sign-up to the last cent, on the real running site.

An RTX 4090 is asked for at 0.33 an hour when the request is funded, and at 0.31 when
the market opens. 40 h at 0.33 are 13.20; 200 GB at 0.09 a GB-month of 730 h cost 0.99
in 40 h and 4.14 in the 7 days after: 18.33 are held. At 0.31 they are 17.53.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from itertools import count
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import policy_faults
from tests.browser.journey import Renter, Staff, cents, money, until
from tests.browser.site import Site, running_site

GPU = "RTX 4090"
STORAGE_RATE, STORAGE_GB = Decimal("0.09"), 200
SECONDS_OF_A_MONTH = 730 * 3600
newcomers = (f"newcomer{number}@example.com" for number in count(1))

NewPage = Callable[[], Page]


@contextmanager
def visitors(
    browser: Browser, site: Site, *, with_scripts: bool = True
) -> Iterator[NewPage]:
    """
    Give pages, each of another visitor; nothing on them breaks the site's policy.
    """
    contexts = []
    faults: list[str] = []

    def new_page() -> Page:
        context = browser.new_context(
            base_url=site.url, java_script_enabled=with_scripts
        )
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda message: faults.extend(policy_faults(message)))
        return page

    yield new_page
    for context in contexts:
        context.close()
    assert faults == []


def become_a_renter(page: Page) -> Renter:
    renter = Renter(page)
    email = next(newcomers)
    renter.signs_up(email)
    renter.confirms_the_address(email)
    renter.logs_out()
    renter.logs_in(email)
    return renter


def top_up_100(renter: Renter) -> None:
    renter.starts_a_top_up("100.00")
    main = renter.page.locator("main")
    # 19 % German VAT on 100.00.
    expect(main).to_contain_text("$19.00")
    expect(main).to_contain_text("$119.00")
    renter.goes_to_pay()
    renter.press("Pay")
    renter.sees_the_top_up("$100.00 is in your wallet")


def fund_a_request(renter: Renter) -> str:
    renter.plans()
    row = renter.page.locator("tr").filter(has_text=GPU).first
    expect(row).to_contain_text("Fits")
    expect(row).to_contain_text("$0.33")
    renter.requests(GPU)
    expect(renter.page.locator("main")).to_contain_text("$18.33")
    return renter.funds()


def check_what_is_held(renter: Renter) -> None:
    assert renter.balance() == Decimal("81.67")
    assert renter.balance("Held") == Decimal("18.33")
    renter.page.goto("/dashboard/")
    expect(renter.page.locator("main")).to_contain_text("Llama 3.1 8B")
    expect(renter.page.locator("main")).to_contain_text("Funded")


def change_the_price(staff: Staff, renter: Renter, workspace: str) -> None:
    staff.changes_the_price(GPU, "EverXCloud", "0.31")

    renter.page.goto("/gpus/rtx-4090/")
    expect(renter.page.locator("main")).to_contain_text("$0.31")
    expect(renter.page.locator("main")).to_contain_text("$0.33")
    renter.page.goto(workspace)
    assert renter.value("Price limit per GPU-hour").inner_text() == "$0.33"
    assert money(renter.value("Still held").inner_text()) == Decimal("18.33")


def check_the_start(renter: Renter, workspace: str) -> None:
    renter.waits_for("Running", workspace)

    assert renter.value("Agreed price per GPU-hour").inner_text() == "$0.31"
    assert money(renter.value("Came back").inner_text()) == Decimal("0.80")
    for event in ["Funded", "Queued", "Matched", "Provisioning", "Running"]:
        expect(renter.page.locator(".timeline")).to_contain_text(event)


def check_the_bill(renter: Renter, workspace: str, ask: Decimal) -> Decimal:
    """
    Work the bill out by hand from the seconds that the page shows; return its total.
    """
    renter.page.goto(workspace)
    lines = renter.charges()
    gpu_seconds = sum(line.seconds for line in lines if line.is_gpu)
    storage_seconds = sum(line.seconds for line in lines if not line.is_gpu)
    compute = cents(ask * gpu_seconds / 3600)
    storage = cents(STORAGE_RATE * STORAGE_GB * storage_seconds / SECONDS_OF_A_MONTH)

    assert gpu_seconds == storage_seconds > 3 * 3600
    total = sum((line.amount for line in lines), Decimal(0))
    assert total == compute + storage
    assert money(renter.value("Billed so far").inner_text()) == total
    assert money(renter.value("Still held").inner_text()) == 0
    return total


def check_the_wallet(renter: Renter, spent: Decimal) -> None:
    assert renter.balance("Held") == 0
    assert renter.balance() == 100 - spent
    months = renter.statements()
    assert sum(month.money_in for month in months) == 100
    assert sum(month.money_out for month in months) == spent
    assert months[0].closing == 100 - spent
    assert months[-1].opening == 0


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_the_main_job(browser: Browser, home: Path, scripts: bool):
    with (
        running_site(home) as site,
        visitors(browser, site, with_scripts=scripts) as new_page,
    ):
        renter, staff = become_a_renter(new_page()), Staff(new_page())
        staff.logs_in()

        top_up_100(renter)
        workspace = fund_a_request(renter)
        check_what_is_held(renter)
        change_the_price(staff, renter, workspace)
        staff.opens_the_market()
        check_the_start(renter, workspace)
        staff.moves_the_clock(hours=3)
        renter.waits_for_hours(3, workspace)
        renter.stops(workspace)

        spent = check_the_bill(renter, workspace, Decimal("0.31"))
        check_the_wallet(renter, spent)
        # It ends with an error if it finds a fault.
        site.manage("check_books")


def test_a_declined_card_credits_nothing(browser: Browser, site: Site):
    with visitors(browser, site) as new_page:
        renter = become_a_renter(new_page())
        renter.starts_a_top_up("100.00")
        renter.goes_to_pay()
        renter.press("Decline the card")
        renter.page.goto("/wallet/")

        assert renter.balance() == 0


def test_money_that_comes_later_is_credited_later(browser: Browser, site: Site):
    with visitors(browser, site) as new_page:
        renter = become_a_renter(new_page())
        renter.starts_a_top_up("100.00")
        renter.goes_to_pay()
        renter.press("Pay later")
        renter.sees_the_top_up("on its way")
        assert money(renter.page.inner_text("header")) == 0

        renter.sees_the_top_up("$100.00 is in your wallet")
        assert renter.balance() == 100


def test_a_worker_killed_in_the_middle_of_a_tick_changes_no_statement(
    browser: Browser, home: Path
):
    with running_site(home) as site, visitors(browser, site) as new_page:
        email, path = rent(new_page(), site)

    with (
        running_site(home, FAILPOINTS="tick.before_commit=kill") as site,
        visitors(browser, site) as new_page,
    ):
        let_ticks_die(new_page(), site)
        renter = Renter(new_page())
        renter.logs_in(email)
        renter.page.goto(path)
        assert renter.charges() == []

    with running_site(home) as site, visitors(browser, site) as new_page:
        renter = Renter(new_page())
        renter.logs_in(email)
        site.kill_worker()
        renter.waits_for_hours(3, path)
        renter.stops(path)

        spent = check_the_bill(renter, path, Decimal("0.33"))
        check_the_wallet(renter, spent)
        site.manage("check_books")


def rent(page: Page, site: Site) -> tuple[str, str]:
    """
    Return who rents a running workspace, and the path of its page.
    """
    renter = become_a_renter(page)
    top_up_100(renter)
    workspace = fund_a_request(renter)
    site.manage("open_market")
    renter.waits_for("Running", workspace)
    return renter.email, workspace.removeprefix(site.url)


def let_ticks_die(page: Page, site: Site) -> None:
    staff = Staff(page)
    staff.logs_in()
    staff.moves_the_clock(hours=3)
    log = site.home / "log" / "worker.log"
    until(page, lambda: "WorkerLostError" in log.read_text(), "No tick was killed")
