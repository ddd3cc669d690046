"""
What a supplier does on the site, step by step, as a browser does it.
"""

import re
from decimal import Decimal

from playwright.sync_api import expect

from tests.browser.journey import NEW_PASSWORD, Person, money, until

HOST_KEY = (
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl"
)
COMPANY = {
    "Name that renters see": "Fjordkraft",
    "Registered name": "Fjordkraft GmbH",
    "Registration number": "HRB 4711",
    "VAT or tax number": "DE136695976",
    "Address": "Hafenstraße 1, 24103 Kiel",
    "Contact person": "Kim Example",
    "Telephone": "+49 431 123456",
    "What you would list": "An RTX 4090 node in Frankfurt.",
}
NODE = {
    "Number of nodes": "1",
    "CPU cores": "16",
    "RAM": "64",
    "Disk": "1000",
    "Network": "10",
    "CUDA version": "12.8",
    "Your ask": "0.30",
}


class SupplierPerson(Person):
    """
    Somebody who has an account and nodes to rent out.
    """

    def fills(self, fields: dict[str, str]) -> None:
        form = self.page.locator("main form").last
        for label, text in fields.items():
            form.get_by_label(re.compile(f"^{re.escape(label)}")).first.fill(text)

    def applies(self) -> None:
        self.page.goto("/")
        self.follow("List your servers")
        expect(self.page.locator("main")).to_contain_text("you get $0.90")
        self.fills(COMPANY)
        self.page.get_by_label("Country").select_option("DE")
        self.press("Send the application")
        expect(self.page.locator("main")).to_contain_text("Being checked")

    def lists_a_node(self) -> None:
        self.page.goto("/supplier/nodes/add/")
        self.page.get_by_label("GPU", exact=True).select_option("rtx-4090")
        self.page.get_by_label("Region").select_option("eu-central-frankfurt")
        self.fills(NODE)
        self.press("See what you get")
        # 0.30 less 10 %.
        expect(self.page.locator("main")).to_contain_text("$0.27")
        self.press("List these nodes")
        expect(self.page.locator("main")).to_contain_text("Listed")

    def says_where_payouts_go(self) -> None:
        self.page.goto("/supplier/bank/")
        # Whoever finds an open browser must not send the money elsewhere.
        self.page.get_by_label("Password").fill(NEW_PASSWORD)
        self.page.locator("main form button").first.click()
        self.page.get_by_label("IBAN or account number").fill(
            "DE75 5121 0800 1245 1261 99"
        )
        self.press("Save the account")
        expect(self.page.locator("main")).to_contain_text("…6199")

    def confirms_the_start(self) -> None:
        self.page.goto("/supplier/starts/")
        waiting = self.page.get_by_role("link", name="Confirm or refuse")
        until(self.page, lambda: waiting.count() > 0, "No start waits")
        waiting.first.click()
        self.page.get_by_label("Host name or IP address").fill("10.0.0.7")
        self.page.get_by_label("Host key").fill(HOST_KEY)
        self.press("Confirm the start")
        expect(self.page.locator("main")).to_contain_text("the clock runs")

    def earned(self, name: str) -> Decimal:
        """
        Return a figure of the earnings page.
        """
        self.page.goto("/supplier/earnings/")
        return money(self.value(name).inner_text())
