"""
What renters and staff do on the site, step by step, as a browser does it.

Each step is one method that ends on the page where the next one begins. Nothing here
needs JavaScript: pages that change by themselves are loaded again until they have.
"""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from playwright.sync_api import Locator, Page, expect

from marketplace.demo_logins import PASSWORD, STAFF

NEW_PASSWORD = "a long and private sentence"
PINNED = "0123456789abcdef0123456789abcdef01234567"
PATIENCE = 90.0  # seconds; a busy machine bills and provisions slowly
CENT = Decimal("0.01")


def until(page: Page, holds: Callable[[], bool], what: str) -> None:
    """
    Load the page again until something holds.

    :raises AssertionError: if it does not, for too long
    """
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline, f"{what}:\n{page.inner_text('main')}"
        time.sleep(1)
        page.reload()


def money(text: str) -> Decimal:
    """
    Return the dollars in a text such as "$1,008.50", with either minus.
    """
    found = re.search(r"([-−])?\$([\d,]+(?:\.\d+)?)", text)
    assert found, f"There are no dollars in {text!r}."
    amount = Decimal(found[2].replace(",", ""))
    return -amount if found[1] else amount


def cents(amount: Decimal) -> Decimal:
    return amount.quantize(CENT, ROUND_HALF_UP)


@dataclass(frozen=True)
class ChargeLine:
    """
    A row of "Every hour, once" on the page of a workspace.
    """

    what: str
    seconds: int
    amount: Decimal

    @property
    def is_gpu(self) -> bool:
        return self.what.startswith("GPU")


@dataclass(frozen=True)
class Month:
    """
    The head of a statement.
    """

    opening: Decimal
    money_in: Decimal
    money_out: Decimal
    closing: Decimal


class Person:
    def __init__(self, page: Page) -> None:
        self.page = page

    def value(self, name: str, within: str = "main") -> Locator:
        """
        Return the value beside a name in a list of facts or pairs.
        """
        pair = self.page.locator(f"{within} dl > div").filter(
            has=self.page.get_by_text(name, exact=True)
        )
        return pair.first.locator("dd").first

    def press(self, name: str) -> None:
        self.page.locator("main").get_by_role("button", name=name).first.click()

    def follow(self, name: str) -> None:
        self.page.locator("main").get_by_role("link", name=name).first.click()


class Renter(Person):
    """
    Somebody who comes to rent a GPU.
    """

    email = ""

    def signs_up(self, email: str) -> None:
        self.page.goto("/account/signup/")
        self.page.get_by_label("Email").fill(email)
        self.page.get_by_label("Password").fill(NEW_PASSWORD)
        self.press("Create the account")
        expect(self.page.locator("h1")).to_contain_text("mailbox")

    def confirms_the_address(self, email: str) -> None:
        self.page.goto("/mailbox/")
        mail = self.page.locator("article").filter(has_text=f"To {email}").first
        mail.get_by_role("link", name="/account/confirm-email/").click()
        expect(self.page.locator("main")).to_contain_text(email)
        self.page.locator("main form button").click()

    def logs_in(self, email: str) -> None:
        self.email = email
        self.page.goto("/account/login/")
        self.page.get_by_label("Email").fill(email)
        self.page.get_by_label("Password").fill(NEW_PASSWORD)
        self.press("Log in")
        expect(self.page.locator("h1")).to_have_text("Dashboard")

    def logs_out(self) -> None:
        self.page.goto("/account/logout/")
        self.press("Log out")

    def starts_a_top_up(self, amount: str) -> None:
        self.page.goto("/wallet/top-up/")
        self.page.get_by_label("Amount, before VAT").fill(amount)
        self.page.get_by_label("Wallet").select_option("USD")
        self.page.get_by_label("Country").select_option("DE")
        self.press("Continue")
        expect(self.page.locator("h1")).to_have_text("Check your top-up")

    def goes_to_pay(self) -> None:
        self.press("Pay $")
        expect(self.page.locator("main")).to_contain_text("This is a sandbox")

    def sees_the_top_up(self, words: str) -> None:
        until(
            self.page,
            lambda: words in self.page.inner_text("main"),
            f"The top-up does not say {words!r}",
        )

    def balance(self, name: str = "Available") -> Decimal:
        self.page.goto("/wallet/")
        return money(self.value(name, "#content section:has(#wallet-USD)").inner_text())

    def statements(self) -> list[Month]:
        """
        Return the statements of all months, the newest first: clocks move on.
        """
        self.page.goto("/wallet/USD/statement/")
        choices = self.page.get_by_label("Month").locator("option").all()
        months = [choice.get_attribute("value") for choice in choices]
        return [self.statement(month) for month in months if month]

    def statement(self, month: str) -> Month:
        self.page.goto(f"/wallet/USD/statement/?month={month}")
        return Month(
            opening=money(self.value("Balance at the start").inner_text()),
            money_in=money(self.value("In").inner_text()),
            money_out=abs(money(self.value("Out").inner_text())),
            closing=money(self.value("Balance at the end").inner_text()),
        )

    def plans(self) -> None:
        self.page.goto(
            "/planner/?model=meta-llama-3-1-8b&method=qlora"
            "&sequence_length=2048&hours=40&storage_gb=200"
        )

    def requests(self, gpu: str) -> None:
        table = self.page.get_by_role("table").first
        table.get_by_role("link", name=f"Request {gpu}", exact=True).click()
        expect(self.page.locator("h1")).to_have_text("Request a workspace")
        self.page.get_by_label("Pinned revision").fill(PINNED)
        self.press("Show the quote")
        expect(self.page.locator("main")).to_contain_text("The price is frozen for")

    def funds(self) -> str:
        """
        Fund the quote and return the address of the workspace's page.
        """
        self.page.locator("main").get_by_role(
            "button", name=re.compile("Hold .* and fund")
        ).click()
        expect(self.page.locator("main")).to_contain_text("Funded")
        return self.page.url

    def waits_for(self, state: str, workspace: str) -> None:
        self.page.goto(workspace)
        until(
            self.page,
            lambda: self.value("State").inner_text() == state,
            f"The workspace is not {state!r}",
        )

    def charges(self) -> list[ChargeLine]:
        """
        Return what the page of the workspace says was billed.
        """
        rows = self.page.locator("table:has-text('Charged') tbody tr")
        cells = [row.locator("td").all_inner_texts() for row in rows.all()]
        return [
            ChargeLine(what, int(seconds.replace(",", "")), money(amount))
            for _hour, what, seconds, _rate, amount in cells
        ]

    def waits_for_hours(self, hours: int, workspace: str) -> None:
        """
        Wait until the tick has billed so many different hours of the GPU.
        """
        self.page.goto(workspace)
        until(
            self.page,
            lambda: sum(line.is_gpu for line in self.charges()) >= hours,
            f"{hours} hours are not billed",
        )

    def stops(self, workspace: str) -> None:
        self.page.goto(f"{workspace}stop/")
        self.press("End and delete")
        expect(self.value("State")).to_have_text("Ended")


class Staff(Person):
    """
    Somebody who runs the site.
    """

    def logs_in(self) -> None:
        self.page.goto("/account/login/?next=/staff/")
        self.page.get_by_label("Email").fill(STAFF)
        self.page.get_by_label("Password").fill(PASSWORD)
        self.press("Log in")
        expect(self.page.locator("h1")).to_have_text("Staff")

    def changes_the_price(self, gpu: str, supplier: str, price: str) -> None:
        self.page.goto("/admin/catalog/offer/?q=" + gpu)
        row = self.page.locator("#result_list tbody tr").filter(has_text=supplier)
        row.filter(has_text=gpu).get_by_role("link").first.click()
        self.page.get_by_role("textbox", name="New price").fill(price)
        self.page.locator("input[name=_save]").click()
        expect(self.page.locator(".messagelist")).to_contain_text("success")

    def opens_the_market(self) -> None:
        self.page.goto("/staff/launch/open/")
        self.press("Open the market")
        expect(self.page.locator("main")).to_contain_text("The market is open")

    def moves_the_clock(self, hours: int) -> None:
        for _hour in range(hours):
            self.page.goto("/staff/clock/")
            self.press("Forward 1 hour")
            expect(self.page.locator("main")).to_contain_text("moved forward")

    def moves_the_clock_by_days(self, days: int) -> None:
        for _day in range(days):
            self.page.goto("/staff/clock/")
            self.press("Forward 1 day")
            expect(self.page.locator("main")).to_contain_text("moved forward")
