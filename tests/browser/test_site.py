from playwright.sync_api import Page


def test_chromium_reaches_the_site(page: Page):
    response = page.goto("/healthz")

    assert response is not None
    assert response.status == 200
    assert page.inner_text("body") == "ok"
