"""
The planner in a real Chromium: swaps in place, back and forward, and without scripts.
"""

import re

from playwright.sync_api import Page, expect

CONFIG = """{"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32,
 "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336,
 "vocab_size": 128256, "max_position_embeddings": 131072}"""


def test_updates_in_place_and_keeps_the_plan_in_the_address(page: Page):
    page.goto("/planner/")
    page.evaluate("window.isSamePage = true")

    page.fill("[name=sequence_length]", "8192")
    page.press("[name=sequence_length]", "Tab")

    expect(page.locator(".answer")).to_contain_text("27.4 GB")
    expect(page).to_have_url(re.compile("sequence_length=8192"))
    assert "framework" not in page.url
    assert page.evaluate("window.isSamePage")

    page.get_by_role("link", name="Plan with it").click()

    expect(page.locator(".answer")).to_contain_text("10.9 GB")
    expect(page).to_have_url(re.compile("loss=fused"))

    page.go_back()

    expect(page.locator(".answer")).to_contain_text("27.4 GB")
    expect(page.locator("[name=sequence_length]")).to_have_value("8192")


def test_the_address_alone_brings_the_plan_back(page: Page):
    page.goto("/planner/?model=qwen2-5-14b&method=lora&hours=12")
    page.reload()

    expect(page.locator("[name=model]")).to_have_value("Qwen2.5 14B")
    expect(page.locator("[name=hours]")).to_have_value("12")
    expect(page.locator("[name=method][value=lora]")).to_be_checked()


def test_the_plan_survives_the_log_in(page: Page):
    page.goto("/planner/?hours=12&method=lora")
    page.get_by_role("link", name="Request").first.click()
    page.wait_for_url("**/account/login/**")

    page.fill("[name=login]", "renter@corehour.example")
    page.fill("[name=password]", "corehour-demo-2026")
    page.click("main button[type=submit]")

    page.wait_for_url("**/workspaces/new/**")
    expect(page.locator("[name=hours]")).to_have_value("12")
    expect(page.locator("[name=method][value=lora]")).to_be_checked()


def test_plans_a_pasted_model_without_scripts(plain_page: Page):
    plain_page.goto("/planner/?hours=12")
    plain_page.check("[name=source][value=own]", force=True)
    plain_page.get_by_role("button", name="Update").click()
    plain_page.fill("[name=config]", CONFIG)
    plain_page.get_by_role("button", name="Read it").click()

    expect(plain_page.locator(".answer")).to_contain_text("Your model (≈ 8B)")
    expect(plain_page.locator("[name=hidden_size]")).to_have_value("4096")
    expect(plain_page.locator("[name=hours]")).to_have_value("12")
    assert "hidden_size=4096" in plain_page.url


def test_works_out_a_pilot_in_place(page: Page):
    page.goto("/pilot/")
    page.evaluate("window.isSamePage = true")

    page.fill("[name=storage_gb]", "0")
    page.press("[name=storage_gb]", "Tab")

    expect(page.locator(".answer")).to_contain_text("$3.28")
    expect(page).to_have_url(re.compile("storage_gb=0"))
    assert page.evaluate("window.isSamePage")
