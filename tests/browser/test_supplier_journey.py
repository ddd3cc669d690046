"""
From an application to a payout: a supplier, a renter and staff on the running site.

The supplier asks 0.30 an hour for an RTX 4090, less than the others. Of each hour it
gets 0.27; storage is billed beside it, and its fee is below a cent in most hours.
"""

from pathlib import Path

from playwright.sync_api import Browser, expect

from tests.browser.journey import Renter, Staff
from tests.browser.site import running_site
from tests.browser.supplier import SupplierPerson
from tests.browser.test_journey import become_a_renter, top_up_100, visitors


def become_a_supplier(page) -> SupplierPerson:
    become_a_renter(page)
    return SupplierPerson(page)


def verify(staff: Staff, name: str) -> None:
    staff.page.goto("/staff/suppliers/")
    staff.follow(name)
    while staff.page.get_by_role("button", name="Passed").count():
        staff.press("Passed")
        expect(staff.page.locator("main")).to_contain_text("Noted")
    staff.press("Verify the company")
    expect(staff.page.locator("h1")).to_contain_text("Verified")


def fund_a_request(renter: Renter) -> str:
    renter.plans()
    row = renter.page.locator("tr").filter(has_text="RTX 4090").first
    expect(row).to_contain_text("$0.30")
    renter.requests("RTX 4090")
    return renter.funds()


def pay_out(staff: Staff) -> None:
    staff.page.goto("/staff/payouts/")
    staff.press("Pay out what is due")
    row = staff.page.locator("tr").filter(has_text="Fjordkraft GmbH").last
    row.get_by_role("button", name="It paid").click()
    expect(staff.page.locator("main")).to_contain_text("marked as paid")


def check_the_payout(supplier: SupplierPerson, staff: Staff) -> None:
    earned = supplier.earned("Earned in all")
    assert supplier.earned("Held") == earned
    assert supplier.earned("Due with the next payout") == 0

    staff.moves_the_clock_by_days(8)
    assert supplier.earned("Due with the next payout") == earned
    pay_out(staff)
    assert supplier.earned("Paid") == earned
    assert supplier.earned("Due with the next payout") == 0


def test_from_an_application_to_a_payout(browser: Browser, home: Path):
    with (
        running_site(home) as site,
        visitors(browser, site) as new_page,
    ):
        supplier, staff = become_a_supplier(new_page()), Staff(new_page())
        staff.logs_in()
        supplier.applies()
        verify(staff, "Fjordkraft")
        supplier.lists_a_node()
        supplier.says_where_payouts_go()
        renter = become_a_renter(new_page())
        top_up_100(renter)
        workspace = fund_a_request(renter)
        staff.opens_the_market()
        supplier.confirms_the_start()
        renter.waits_for("Running", workspace)
        staff.moves_the_clock(hours=3)
        renter.waits_for_hours(3, workspace)
        renter.stops(workspace)

        billed = sum(line.amount for line in renter.charges())
        assert billed * 85 / 100 <= supplier.earned("Earned in all") <= billed
        check_the_payout(supplier, staff)
        site.manage("check_books")
