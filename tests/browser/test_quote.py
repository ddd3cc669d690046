"""
The clock of a quote in a real Chromium, and what a second quote says of the first.
"""

import re

from playwright.sync_api import Page, expect

from marketplace.demo_logins import PASSWORD, RENTER
from tests.browser.journey import Renter


def test_counts_the_freeze_down_and_says_what_changed(page: Page):
    page.clock.install()
    page.goto("/account/login/")
    page.get_by_label("Email").fill(RENTER)
    page.get_by_label("Password").fill(PASSWORD)
    renter = Renter(page)
    renter.press("Log in")
    renter.plans()
    renter.requests("RTX 4090")

    frozen = page.locator("[data-clock]")
    expect(frozen).to_be_visible()
    # A busy machine has a few seconds of the fifteen minutes gone already.
    expect(frozen).to_contain_text(re.compile(r"1[45]:\d\d"))
    page.clock.fast_forward("10:00")
    expect(frozen).to_contain_text(re.compile(r"\b[45]:\d\d"))

    renter.follow("Change something")
    page.get_by_label("Hours", exact=True).fill("8")
    renter.press("Show the quote")

    changes = page.locator("section").filter(has_text="What changed since")
    expect(changes.get_by_role("row").filter(has_text="Hours")).to_contain_text("40")
    # 8 h at 0.33 instead of 40: 2.64 instead of 13.20.
    expect(changes).to_contain_text("$13.20")
    expect(changes).to_contain_text("$2.64")
