"""
The shell of every page in a real Chromium: phones, keyboards, no scripts, no haste.
"""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Cookie, Page

from marketplace.demo_logins import PASSWORD, STAFF
from tests.browser.site import Site

LOOK_PAGE = "/staff/look/"
RULES = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"],
    "rules": {"target-size": {"enabled": True}},
    "resultTypes": ["violations"],
}


@pytest.fixture(scope="module")
def staff_cookies(browser: Browser, site: Site) -> list[Cookie]:
    """
    What staff bring along after one log-in.
    """
    context = browser.new_context(base_url=site.url)
    page = context.new_page()
    page.goto("/account/login/")
    page.fill("[name=login]", STAFF)
    page.fill("[name=password]", PASSWORD)
    page.click("main button[type=submit]")
    page.wait_for_url("**/dashboard/")
    cookies = context.cookies()
    context.close()
    return cookies


@pytest.fixture
def staff_page(page: Page, staff_cookies: list[Cookie]) -> Page:
    page.context.add_cookies(staff_cookies)
    return page


@pytest.mark.parametrize("language", ["", "/es", "/id"])
@pytest.mark.parametrize("width", [320, 390, 1280])
def test_every_component_fits_its_page(staff_page, language, width):
    staff_page.set_viewport_size({"width": width, "height": 900})

    staff_page.goto(f"{language}{LOOK_PAGE}")

    overflow = "document.documentElement.scrollWidth - window.innerWidth"
    assert staff_page.evaluate(overflow) <= 0


def test_everything_clickable_is_large_enough(staff_page):
    staff_page.goto(LOOK_PAGE)

    # WCAG 2.2, 2.5.8: 24 by 24 CSS pixels, except links inside a line of text.
    small = staff_page.evaluate(
        """
        () => [...document.querySelectorAll(
            "button, summary, select, textarea, input:not([type=hidden]), .button, nav a"
        )]
            .map((element) => [element, element.closest("label") ?? element])
            .map(([element, target]) => [element, target.getBoundingClientRect()])
            .filter(([, box]) => box.width > 0 && (box.width < 24 || box.height < 24))
            .map(([element]) => element.outerHTML)
        """
    )

    # A checkbox is 18 pixels and has its own label beside it, which is clickable too.
    assert [html for html in small if 'type="checkbox"' not in html] == []


def test_nothing_breaks_the_rules_of_wcag_that_a_machine_sees(staff_page):
    faults = []

    for path, scheme in (
        (LOOK_PAGE, "dark"),
        ("/planner/", "light"),
        ("/gpus/h100-sxm/", "dark"),
        ("/workloads/inference/", "light"),
    ):
        staff_page.emulate_media(color_scheme=scheme)
        staff_page.goto(path)
        found = Axe().run(staff_page, options=RULES).response["violations"]
        faults += [(path, fault["id"], fault["nodes"][0]["html"]) for fault in found]

    assert faults == []


def test_menu_of_a_phone_needs_no_scripts(plain_page):
    plain_page.goto("/account/login/")
    links = plain_page.locator(".nav a")
    assert not links.first.is_visible()

    plain_page.click(".menu > summary")

    assert links.first.is_visible()


def test_menus_close_on_escape_and_give_the_focus_back(staff_page):
    staff_page.goto(LOOK_PAGE)
    summary = staff_page.locator(".dropdown > summary").last
    summary.click()

    staff_page.keyboard.press("Escape")

    assert staff_page.locator(".dropdown[open]").count() == 0
    assert summary.evaluate("element => element === document.activeElement")


def test_only_one_menu_is_open(staff_page):
    staff_page.goto(LOOK_PAGE)
    menus = staff_page.locator(".dropdown > summary")
    menus.first.click()

    menus.last.click()

    assert staff_page.locator(".dropdown[open]").count() == 1


def test_second_click_sends_nothing(page):
    page.goto("/account/password/reset/")
    page.fill("[name=email]", "renter@example.com")
    # The answer never comes, so that there is time for a second click.
    page.route("**/account/password/reset/", lambda route: None)

    sent = page.evaluate(
        """
        () => {
            let sent = 0;
            addEventListener("submit", (event) => {
                if (!event.defaultPrevented) sent += 1;
            });
            const button = document.querySelector("main button[type=submit]");
            button.click();
            button.click();
            return [sent, button.getAttribute("aria-busy")];
        }
        """
    )

    assert sent == [1, "true"]


def test_errors_take_the_focus(page):
    page.goto("/account/login/")
    page.fill("[name=login]", "nobody@example.com")
    page.fill("[name=password]", "not the password")

    page.click("main button[type=submit]")

    page.wait_for_selector("#errors")
    assert page.evaluate("document.activeElement.id") == "errors"
