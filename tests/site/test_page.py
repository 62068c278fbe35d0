"""The live page in a browser: every number and chart follows an edit, the address holds the state, text stays text."""

import re
from collections.abc import Callable
from urllib.parse import quote

import pytest
from axe import serious
from playwright.sync_api import Browser, Page, expect

from envelope import catalog, evaluate
from envelope.curves import CHARTS

# A source of the Bokeh document by name, as plain lists.
SOURCE = """(name) => Object.fromEntries(
    Object.entries(Bokeh.documents.at(-1).get_model_by_name(name).data).map(([key, values]) =>
        [key, Array.from(values, (one) => typeof one === 'object' ? Array.from(one) : one)]))"""
# What the place of announcements says while a toast is shown in it.
WATCH_SAID = """() => {
    window.toasted = [];
    const said = document.getElementById('said');
    const look = () => document.documentElement.dataset.toast !== undefined && toasted.at(-1) !== said.textContent && toasted.push(said.textContent);
    new MutationObserver(look).observe(said, { childList: true });
    new MutationObserver(look).observe(document.documentElement, { attributeFilter: ['data-toast'] });
}"""
# How many columns of the window the page needs; more than there are means it scrolls sideways.
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


def field(page: Page, label: str):
    return page.get_by_label(label, exact=True)


def headline(page: Page):
    return page.get_by_role("region", name="The answer").get_by_role("heading")


def assert_drawn(page: Page, key: str, **inputs: str) -> None:
    """The chart in the document is the core's, as far as two mathematical libraries agree."""
    chart = CHARTS[key](evaluate(**inputs))
    # Numbers are shown before the charts are drawn again.
    marked = [float(mark.x) for mark in chart.marks]
    page.wait_for_function(f"([name, marked]) => ({SOURCE})(name).x.join() === marked.join()", arg=[f"{key}-marks", marked])
    lines = page.evaluate(SOURCE, f"{key}-lines")
    assert lines["xs"] == [pytest.approx([float(x) for x in one.x], rel=1e-12) for one in chart.series]
    assert lines["ys"] == [pytest.approx([float(y) for y in one.y], rel=1e-12) for one in chart.series]
    labels = [label.replace("\n", " ") for label in page.evaluate(SOURCE, f"{key}-labels")["label"]]
    assert [mark.label for mark in chart.marks if mark.label not in labels] == []


class TestFollowing:
    def test_an_edit_reaches_numbers_charts_and_address(self, open_live: Callable[..., Page]) -> None:
        page = open_live()
        expect(headline(page)).to_have_text("Fits · 258 sessions at 128K")
        assert_drawn(page, "pool-ratio")
        field(page, "Context").fill("1M")
        expect(headline(page)).to_have_text("Fits · 38 sessions at 1M")
        expect(page.locator("#card-ceiling_sessions")).to_contain_text("39 sessions")
        expect(page.get_by_text("1,048,576 tokens").first).to_be_visible()
        assert_drawn(page, "pool-ratio", context="1M")
        assert_drawn(page, "experts", context="1M")
        expect(page).to_have_url(re.compile("&model=muse-spark-open&context=1M$"))

    @pytest.mark.parametrize("slug", catalog.slugs())
    def test_every_preset(self, open_live: Callable[..., Page], slug: str) -> None:
        page = open_live()
        field(page, "Model").select_option(slug)
        sessions = evaluate(slug).value("sessions")
        expect(headline(page)).to_have_text("Sessions unknown" if sessions is None else f"Fits · {sessions:,} sessions at 128K")
        for key in ("pool-ratio", "experts"):
            assert_drawn(page, key, model=slug)

    def test_a_missing_input_is_one_click_away(self, open_live: Callable[..., Page]) -> None:
        page = open_live("?model=deepseek-v4.1-flash")
        page.get_by_role("region", name="The answer").get_by_role("button", name="Weight bytes").click()
        expect(field(page, "Weight bytes")).to_be_focused()
        page.keyboard.type("300GB")
        expect(headline(page)).to_have_text(f"Fits · {evaluate('deepseek-v4.1-flash', weight_bytes='300GB').value('sessions'):,} sessions at 128K")

    def test_typing_keeps_the_caret_and_one_step_of_history(self, open_live: Callable[..., Page]) -> None:
        page = open_live()
        steps = page.evaluate("history.length")
        context = field(page, "Context")
        context.fill("")
        context.press_sequentially("256K")
        assert context.input_value() == "256K"
        assert page.evaluate("document.activeElement.id") == "field-context"
        # What differs from the preset has a button before its field; without one, the field stays what is typed in.
        context.press("ControlOrMeta+a")
        context.press_sequentially("128K")
        expect(page.locator("[data-row=context] .back")).to_have_count(0)
        context.press("ControlOrMeta+a")
        context.press_sequentially("256K")
        assert context.input_value() == "256K"
        assert page.evaluate("document.activeElement.id") == "field-context"
        assert page.evaluate("history.length") == steps
        context.press("Enter")
        assert page.evaluate("history.length") == steps + 1
        page.go_back()
        expect(headline(page)).to_have_text("Fits · 258 sessions at 128K")
        expect(context).to_have_value("128K")
        page.go_forward()
        expect(context).to_have_value("256K")

    def test_the_address_opened_again_is_the_same_state(self, open_live: Callable[..., Page]) -> None:
        page = open_live()
        field(page, "Model").select_option("gpt-oss-120b")
        field(page, "Machine").select_option("hgx-h100")
        field(page, "Batch").fill("32")
        field(page, "Batch").press("Enter")
        query = f"?v=1&data={catalog.date()}&model=gpt-oss-120b&machine=hgx-h100&batch=32"
        expect(page).to_have_url(re.compile(re.escape(query) + "$"))
        words = page.get_by_role("region", name="The answer").inner_text()
        page = open_live(query)
        assert page.get_by_role("region", name="The answer").inner_text() == words
        expect(field(page, "Batch")).to_have_value("32")

    def test_a_model_change_and_its_undo(self, open_live: Callable[..., Page]) -> None:
        page = open_live("?context=32K&layers=60")
        field(page, "Model").select_option("deepseek-v3")
        expect(page).to_have_url(re.compile("&model=deepseek-v3&context=32K$"))
        page.get_by_role("button", name="Undo").click()
        expect(field(page, "Layers")).to_have_value("60")


class TestBadInput:
    def test_a_bad_field_says_so_beside_it_and_keeps_the_results(self, open_live: Callable[..., Page]) -> None:
        page = open_live()
        field(page, "Top k").fill("300")
        field(page, "Top k").press("Tab")
        expect(field(page, "Top k")).to_have_attribute("aria-invalid", "true")
        expect(field(page, "Top k")).to_have_accessible_description("is impossible: top_k 300 of 256 experts is impossible")
        expect(headline(page)).to_have_text("Fits · 258 sessions at 128K")
        expect(page.get_by_text("of the last values that can be used")).to_be_visible()
        page.get_by_role("button", name="Put Top k back").click()
        expect(field(page, "Top k")).to_have_value("8")
        expect(page.get_by_text("of the last values that can be used")).to_be_hidden()

    def test_hostile_text_in_an_address_is_shown_as_text(self, open_live: Callable[..., Page]) -> None:
        text = '<img src=x onerror="document.title=1"><script>document.title=2</script>'
        page = open_live(f"?context={quote(text)}&{quote(text)}=1")
        expect(page.get_by_text("was ignored").first).to_contain_text("<img src=x onerror=")
        assert page.locator("#page img, #page script").count() == 0
        assert page.title() == "Serving envelope"
        expect(headline(page)).to_have_text("Fits · 258 sessions at 128K")

    @pytest.mark.parametrize("text", ["9" * 5000, "[" * 9000], ids=["digits", "brackets"])
    def test_nothing_in_an_address_is_evaluated(self, open_live: Callable[..., Page], text: str) -> None:
        page = open_live(f"?zzz={text}")
        expect(page.get_by_text("The link's 'zzz' is not an input here and was ignored.")).to_be_visible()
        expect(headline(page)).to_have_text("Fits · 258 sessions at 128K")

    def test_what_does_not_fit_says_how_many_gpus_it_takes(self, open_live: Callable[..., Page]) -> None:
        page = open_live("?machine=rtx-5090")
        expect(headline(page)).to_have_text("Does not fit")
        expect(page.get_by_role("region", name="The answer")).to_contain_text("needs 32 GPUs")
        page.get_by_role("button", name="set GPUs 32").click()
        expect(headline(page)).to_contain_text("Fits")
        page.get_by_role("button", name="Undo").click()
        expect(headline(page)).to_have_text("Does not fit")


class TestLookingCloser:
    def test_how_opens_and_closes(self, open_live: Callable[..., Page]) -> None:
        page = open_live()
        how = page.get_by_role("button", name="How: Ceiling")
        how.click()
        expect(page.locator("#how-ceiling_sessions")).to_contain_text("1.357 TB / 4.488 GB = 302")
        expect(how).to_have_attribute("aria-expanded", "true")
        how.click()
        expect(page.locator("#how-ceiling_sessions")).to_be_hidden()

    def test_a_section_draws_its_chart_when_it_is_opened(self, open_live: Callable[..., Page]) -> None:
        page = open_live()
        summary = page.locator("#section-pools > summary")
        summary.click()
        expect(page.locator("#plot-pool-mix canvas").first).to_be_visible()
        assert_drawn(page, "pool-mix")
        summary.click()
        expect(page.locator("#plot-pool-mix")).to_be_hidden()
        summary.press("Enter")
        expect(page.locator("#plot-pool-mix canvas").first).to_be_visible()

    def test_a_dialog_left_with_escape_opens_empty_again(self, open_live: Callable[..., Page]) -> None:
        page = open_live()
        for name in ("Paste log", "Paste config"):
            page.get_by_role("button", name=name).click()
            box = page.get_by_role("dialog").locator("textarea").first
            box.fill("GPU KV cache size: 1,000 tokens")
            page.get_by_role("dialog").get_by_text("recognised").or_(page.get_by_role("dialog").get_by_role("alert")).first.wait_for()
            expect(box).to_have_value("GPU KV cache size: 1,000 tokens")
            page.keyboard.press("Escape")
            page.get_by_role("button", name=name).click()
            expect(box).to_have_value("")
            expect(page.get_by_role("dialog").get_by_role("alert")).to_have_count(0)
            page.get_by_role("dialog").get_by_role("button", name="Close").click()

    def test_two_states_side_by_side(self, open_live: Callable[..., Page]) -> None:
        page = open_live()
        page.get_by_role("button", name="Compare").click()
        field(page, "Context").fill("1M")
        field(page, "Context").press("Enter")
        row = page.get_by_role("row", name="Sessions 258 sessions")
        expect(row).to_have_text("Sessions258 sessions38 sessions−220 sessions0.147×")
        page.wait_for_function(f"(label) => ({SOURCE})('pool-ratio-labels').label.some((one) => one.replaceAll('\\n', ' ') === label)", arg="A: 128K: 258 at 0.0782")
        again = open_live("?" + page.url.split("?")[1])
        expect(again.get_by_role("row", name="Sessions 258 sessions")).to_have_count(1)


class TestModels:
    def test_a_column_puts_the_rows_in_order(self, open_live: Callable[..., Page]) -> None:
        page = open_live()
        page.locator("#section-models > summary").click()
        rows = page.locator("#section-models tbody th")
        page.locator("#section-models").get_by_role("button", name="Cache per token").click()
        expect(page.locator("#section-models").get_by_role("columnheader", name="Cache per token")).to_have_attribute("aria-sort", "ascending")
        expect(rows.first).to_have_text("DeepSeek V4.1-Flash")
        page.locator("#section-models").get_by_role("button", name="Cache per token").click()
        expect(rows.first).to_have_text("Llama 3.1 70B")
        field(page, "Context").fill("64K")
        expect(headline(page)).to_contain_text("at 64K")
        expect(rows.first).to_have_text("Llama 3.1 70B")


class TestTakingAway:
    def test_the_link_and_the_exports_reach_the_clipboard(self, open_live: Callable[..., Page], site_url: str) -> None:
        page = open_live("?context=1M")
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        page.get_by_role("button", name="Copy link").click()
        expect(page.get_by_role("status").filter(has_text="Link copied")).to_be_visible()
        link = f"{site_url}?v=1&data={catalog.date()}&model=muse-spark-open&context=1M"
        assert page.evaluate("navigator.clipboard.readText()") == link
        page.get_by_text("Export", exact=True).click()
        page.get_by_role("button", name="Shell line").click()
        expect(page.get_by_role("status").filter(has_text="Shell line copied")).to_be_visible()
        assert page.evaluate("navigator.clipboard.readText()") == "python3 -m envelope muse-spark-open --set context=1M\n"

    def test_what_is_announced_after_typing_waits_for_a_toast(self, open_live: Callable[..., Page]) -> None:
        page = open_live()
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        page.evaluate(WATCH_SAID)
        field(page, "Context").fill("1M")
        page.get_by_role("button", name="Copy link").click()
        expect(page.locator("#said")).to_have_text(re.compile("Fits · 38 sessions at 1M"))
        assert page.evaluate("toasted") == ["Link copied"]

    def test_a_chart_is_saved_as_csv_and_png(self, open_live: Callable[..., Page]) -> None:
        page = open_live()
        chart = page.locator("#chart-experts")
        chart.get_by_text("data", exact=True).click()
        with page.expect_download() as saved:
            chart.get_by_role("button", name="CSV").click()
        lines = saved.value.path().read_text().splitlines()
        assert lines[0] == "series,tokens in one step,experts,note"
        assert len(lines) == 1 + sum(len(one.x) for one in CHARTS["experts"](evaluate()).series)
        with page.expect_download() as saved:
            chart.get_by_role("button", name="PNG").click()
        assert saved.value.suggested_filename == "experts.png"
        assert saved.value.path().read_bytes().startswith(b"\x89PNG")
        expect(chart.get_by_role("row").nth(1)).to_be_visible()

    def test_a_pasted_config_becomes_the_model(self, open_live: Callable[..., Page]) -> None:
        page = open_live()
        page.get_by_role("button", name="Paste config").click()
        text = page.get_by_label("The file's text")
        text.fill("{}")
        expect(page.get_by_role("dialog").get_by_role("alert")).to_be_visible()
        text.fill(catalog.model("llama-3.1-70b").config.decode())
        page.get_by_role("button", name="Use this model").click()
        expect(page.get_by_role("dialog")).to_be_hidden()
        expect(page.locator("#card-resident_parameters")).to_contain_text("70.55 B")  # the publisher's 70,553,706,496


class TestForEveryone:
    @pytest.mark.parametrize("light", ["light", "dark"])
    @pytest.mark.parametrize("width", [1280, 390])
    def test_axe_finds_nothing_serious_and_nothing_is_cut(self, browser: Browser, site_url: str, light: str, width: int) -> None:
        with browser.new_context(base_url=site_url, color_scheme=light, viewport={"width": width, "height": 800}) as context:
            page = context.new_page()
            page.goto("?context=1M&a.model=muse-spark-open&a.context=")
            page.wait_for_selector("html[data-state=live]", state="attached")
            page.locator("#section-pools > summary").click()
            page.get_by_role("button", name="How: Ceiling").click()
            field(page, "Batch").first.fill("8x")
            assert serious(page) == []
            assert page.evaluate(OVERFLOW) <= 0
            page.get_by_role("button", name="Paste config").click()
            assert serious(page) == []

    def test_the_keyboard_goes_from_choice_to_field_in_order(self, open_live: Callable[..., Page]) -> None:
        page = open_live()
        field(page, "Model").focus()
        seen = []
        for _ in range(12):
            page.keyboard.press("Tab")
            seen.append(page.evaluate("document.activeElement.getAttribute('aria-label') || document.activeElement.id || document.activeElement.textContent"))
        assert seen[:8] == ["choose-machine", "Paste config", "Paste log", "Compare", "Copy link", "Embed", "Export", "Workload"]
        assert seen[8:10] == ["field-context", "field-mix"]


class TestFields:
    def test_a_choice_that_gains_others_shows_what_is_chosen(self, open_live: Callable[..., Page]) -> None:
        layers = "h4096.v128256.final4096.max131072~32x_full.q32.kv8.k128_ff.w14336_norms8192"
        page = open_live(f"?model=custom&groups={layers}&weight_format=nvfp4_modelopt")
        expect(field(page, "Weights")).to_have_value("nvfp4_modelopt")

    def test_one_that_is_left_shows_what_it_stands_for(self, open_live: Callable[..., Page]) -> None:
        page = open_live("")
        gpus = field(page, "GPUs")
        gpus.fill("")
        gpus.blur()
        expect(gpus).to_have_value("8")
        cell = page.locator("[data-region=layers] input").first
        cell.fill("016 ")
        cell.press("Enter")
        cell.blur()
        expect(cell).to_have_value("16")


def test_a_broken_anchor_opens_nothing_and_stops_nothing(open_live: Callable[..., Page]) -> None:
    expect(headline(open_live("?model=gpt-oss-120b#%E0%A4"))).to_have_text("Fits · 355 sessions at 128K")


# Whether a chart's canvas is dark where it begins.
IS_DARK = """() => {
    const { canvas_view } = Array.from(Bokeh.index.roots).find(({ model }) => model.name === "chart-experts");
    return Array.from(canvas_view.primary.canvas.getContext("2d").getImageData(0, 99, 1, 1).data.slice(0, 3)).every((light) => light < 40);
}"""


def test_after_dusk_no_line_of_light_is_left_at_a_charts_edge(open_live: Callable[..., Page]) -> None:
    page = open_live("")
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(IS_DARK)


# Counts the rehearsed edits from here on.
COUNT_REHEARSALS = """() => {
  window.rehearsals = 0;
  const door = Bokeh.documents.at(-1).get_model_by_name("door");
  door.properties.heard.change.connect(() => (rehearsals += JSON.parse(door.heard).do === "rehearse"));
}"""
# How many there are after some idle moments, in each of which there would be one.
IDLE_MOMENTS = "async (count) => { while (count--) await new Promise(requestIdleCallback); return window.rehearsals; }"


def test_no_edit_is_rehearsed_while_words_are_marked(open_live: Callable[..., Page]) -> None:
    """A rehearsal writes every number anew and back, which would take the mark from words that the reader has marked."""
    page = open_live()
    headline(page).evaluate("(element) => getSelection().selectAllChildren(element)")
    page.evaluate(COUNT_REHEARSALS)
    assert page.evaluate(IDLE_MOMENTS, 20) == 0
    assert page.evaluate("() => String(getSelection())") == "Fits · 258 sessions at 128K"
    page.evaluate("() => getSelection().removeAllRanges()")
    page.wait_for_function("() => rehearsals > 0")
