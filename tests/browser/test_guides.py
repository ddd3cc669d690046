"""
The guides in a real Chromium; the page fixture fails on any breach of the policy.
"""

import json
import re

import pytest
from playwright.sync_api import expect

from marketplace.demo_logins import PASSWORD, STAFF

SLUGS = [
    "fine-tuning",
    "llm-training",
    "inference",
    "image-and-video",
    "3d-rendering",
    "scientific-computing",
]


@pytest.mark.parametrize("prefix", ["", "/es", "/id"])
@pytest.mark.parametrize("slug", SLUGS)
def test_describes_itself_within_the_policy_and_fits_a_phone(page, slug, prefix):
    page.set_viewport_size({"width": 390, "height": 800})

    page.goto(f"{prefix}/workloads/{slug}/")

    text = page.locator('script[type="application/ld+json"]').text_content()
    assert json.loads(text)["@context"] == "https://schema.org"
    overflow = "document.documentElement.scrollWidth - window.innerWidth"
    assert page.evaluate(overflow) <= 0


def test_calculator_answers_in_place(page):
    page.goto("/workloads/inference/")

    page.select_option("[name=model]", "qwen2-5-7b")

    # 28 layers x 2 x 4 heads x 128 x 2 bytes
    expect(page.locator("#calculator-section")).to_contain_text("57,344 bytes a token")
    expect(page).to_have_url(re.compile("model=qwen2-5-7b"))
    page.reload()
    expect(page.locator("[name=model]")).to_have_value("qwen2-5-7b")


def test_calculator_answers_without_scripts(plain_page):
    plain_page.goto("/workloads/inference/")
    plain_page.select_option("[name=model]", "qwen2-5-7b")

    plain_page.click("#calculator-section button[type=submit]")

    assert "model=qwen2-5-7b" in plain_page.url
    assert "57,344 bytes a token" in plain_page.inner_text("#calculator-section")


def test_staff_change_preview_publish_and_undo(page):
    page.goto("/account/login/")
    page.fill("[name=login]", STAFF)
    page.fill("[name=password]", PASSWORD)
    page.click("main button[type=submit]")
    page.wait_for_url("**/dashboard/")
    page.goto("/staff/guides/3d-rendering/en/1/edit/")

    page.fill("[name=lead]", "Written by hand: {{ 7*7 }} <script>alert(1)</script>")
    page.click("text=Save and preview")

    expect(page.locator("main")).to_contain_text("{{ 7*7 }} <script>alert(1)</script>")
    page.click("text=Publish version 2")
    page.goto("/workloads/3d-rendering/")
    expect(page.locator("main")).to_contain_text("Written by hand")
    page.goto("/staff/guides/3d-rendering/en/")
    page.click("text=Publish version 1")
    page.goto("/workloads/3d-rendering/")
    expect(page.locator("main")).to_contain_text("A path tracer follows")
    expect(page.locator("main")).not_to_contain_text("Written by hand")
