"""The layer table in a browser: edited cell by cell with the keyboard, beside what it says, at both widths."""

import re
from collections.abc import Callable

import pytest
from axe import serious
from playwright.sync_api import Browser, Locator, Page, expect

OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


def cell(page: Page, name: str, group: int = 1) -> Locator:
    return page.get_by_label(f"{name}, group {group}", exact=True)


def test_an_edit_with_the_keyboard_its_slip_its_undo_and_its_link(open_live: Callable[..., Page]) -> None:
    page = open_live("?model=llama-3.1-70b")
    tokens = page.locator("#card-cache_bytes_per_token")
    expect(tokens).to_contain_text("328")  # 80 layers x 2 x 8 heads x 128 values of two bytes, in kB
    cell(page, "num_attention_heads").focus()
    page.keyboard.press("Tab")
    page.keyboard.type("7")
    expect(cell(page, "num_key_value_heads")).to_have_accessible_description("num_attention_heads 64 must be a multiple of num_key_value_heads 7")
    expect(tokens).to_contain_text("328")
    page.keyboard.press("Backspace")
    page.keyboard.type("4")
    expect(tokens).to_contain_text("164")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "layers-0-attention-key_dim"
    expect(page).to_have_url(re.compile(r"\.kv4\."))
    page = open_live("?" + page.url.split("?")[1])
    expect(cell(page, "num_key_value_heads")).to_have_value("4")
    page.get_by_role("button", name="Put the layers back").click()
    expect(cell(page, "num_key_value_heads")).to_have_value("8")
    page.get_by_role("button", name="Undo").click()
    expect(cell(page, "num_key_value_heads")).to_have_value("4")


def test_a_row_is_added_and_removed(open_live: Callable[..., Page]) -> None:
    page = open_live("?model=llama-3.1-70b")
    page.get_by_role("button", name="Add a layer like those of group 1").click()
    expect(cell(page, "layers", 2)).to_have_value("1")
    cell(page, "sliding_window", 2).fill("4K")
    expect(page.locator("#section-layers > summary")).to_contain_text("81: 80 full, 1 sliding")
    page.get_by_role("button", name="Remove group 2").click()
    expect(page.locator("#section-layers > summary")).to_contain_text("80 full")
    expect(page).to_have_url(re.compile("&model=llama-3.1-70b$"))


@pytest.mark.parametrize("light", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 1040, 390])
def test_is_fit_for_everyone(browser: Browser, site_url: str, light: str, width: int) -> None:
    with browser.new_context(base_url=site_url, color_scheme=light, viewport={"width": width, "height": 800}) as context:
        page = context.new_page()
        page.goto("?model=deepseek-v3")
        page.wait_for_selector("html[data-state=live]", state="attached")
        if width == 390:
            page.locator("#section-layers > summary").click()
        cell(page, "kv_lora_rank", 2).fill("0")
        expect(cell(page, "kv_lora_rank", 2)).to_have_attribute("aria-invalid", "true")
        assert serious(page) == []
        assert page.evaluate(OVERFLOW) <= 0
