"""A person's first minute: each step has its answer on the screen."""

from collections.abc import Callable

from conftest import START_MILLISECONDS
from playwright.sync_api import Page, expect

from envelope import catalog


def test_the_first_minute(open_live: Callable[..., Page], site_url: str) -> None:
    page = open_live()
    answer = page.get_by_role("region", name="The answer")
    headline, findings = answer.get_by_role("heading"), page.get_by_role("list", name="Findings").get_by_role("listitem")
    expect(headline).to_have_text("Fits · 258 sessions at 128K")

    # Pick DeepSeek V3: another answer, on the machine that was there.
    page.get_by_label("Model", exact=True).select_option("deepseek-v3")
    expect(headline).to_have_text("Fits · 128 sessions at 128K")
    expect(answer).to_contain_text("needs 4 GPUs")

    # A million tokens: an eighth of the sessions, and a warning that the model never saw so many.
    page.get_by_label("Context", exact=True).fill("1M")
    page.get_by_label("Context", exact=True).press("Enter")
    expect(headline).to_have_text("Fits · 16 sessions at 1M")
    expect(page.locator("#field-context-says")).to_have_text("1,048,576 tokens")
    expect(findings.first).to_contain_text("A context of 1M exceeds the 160K positions the model states.")

    # A smaller machine: it does not fit, why not, and what would.
    page.get_by_label("Machine", exact=True).select_option("hgx-h200")
    expect(headline).to_have_text("Not one session fits")
    expect(answer).to_contain_text("needs 16 GPUs")
    expect(page.get_by_role("img", name="weights")).to_be_visible()
    expect(findings.first).to_contain_text("16 GPUs hold one")

    # The first finding's own change makes it fit.
    findings.first.get_by_role("button").click()
    expect(headline).to_contain_text("Fits ·")
    expect(headline).to_contain_text("at 1M")
    expect(page.locator("#field-gpus")).to_have_value("16")
    expect(page.get_by_role("button", name="changed")).to_contain_text("2 changed")
    expect(page.get_by_role("button", name="Undo")).to_be_enabled()

    # The link is copied, and opened again is the same state.
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("status").filter(has_text="Link copied")).to_be_visible()
    link = page.evaluate("navigator.clipboard.readText()")
    assert link == f"{site_url}?v=1&data={catalog.date()}&model=deepseek-v3&machine=hgx-h200&gpus=16&context=1M"
    said = answer.inner_text()
    again = page.context.new_page()
    again.goto(link)
    expect(again.locator("html")).to_have_attribute("data-state", "live", timeout=START_MILLISECONDS)
    assert again.get_by_role("region", name="The answer").inner_text() == said
    expect(again.get_by_label("Context", exact=True)).to_have_value("1M")
    expect(again.locator("#field-gpus")).to_have_value("16")
