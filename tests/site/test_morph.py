"""What an edit sends, put into what stands, gives what the state's own page would show: nothing is lost on the way."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page

from app.markup import entire
from envelope import catalog
from envelope.sections import sections
from tests.app.reader import Reader

OPEN = "&open=" + ",".join(["layers", *(section.key for section in sections())])
# Edits that make findings, words, inputs and rows of a section come and go; an empty text takes one back.
EDITS = (
    ("context", "8K"), ("batch", "64"), ("batch", ""), ("context", "1M"), ("pool_ratio", "0.1"), ("pool_ratio", ""), ("gpus", "1"), ("gpus", "16"),
    ("gpus", ""), ("hbm", "79.6GiB"), ("max_batch", "8"), ("memory_fraction", "0.3"), ("memory_fraction", ""), ("mix", "32K:1,128K:1"), ("hbm", ""),
    ("chunk", "1K"), ("window", "128"), ("top_k", "4"), ("layers", "12"), ("layers", "many"), ("layers", ""), ("engine", "vllm"), ("context", ""),
    ("machine", "hgx-h100"), ("engine", ""), ("model", "deepseek-v3"), ("model", "muse-spark-open"), ("model", "llama-3.1-70b"),
)  # fmt: skip

Sent = tuple[str, str, str]
# Of triples of what stood, what was sent and what is to stand, those by place that do not become it.
MORPHED = """async (triples) => {
    const boot = document.querySelector("script[type=module]").src;
    const { morphChildren } = await import(boot.replace("boot.mjs", "morph.mjs"));
    const made = (html) => Object.assign(document.createElement("div"), { innerHTML: html });
    return triples.flatMap(([before, sent, after], at) => {
        const old = made(before);
        morphChildren(old, made(sent));
        return old.isEqualNode(made(after)) ? [] : [at];
    });
}"""


def sent(query: str, **options: bool) -> Iterator[tuple[str, Sent]]:
    """Every region that the edits show: which edit and region, and what stood, was sent and is to stand."""
    reader = Reader(query, **options)
    for key, text in EDITS:
        before = dict(reader.page._shown)
        reader.commit(key, text)
        for name, html in (item for shown in reader.told("show") for item in shown["regions"].items()):
            yield f"{key} {text}: {name}", (entire(before.get(name, "")), html, entire(reader.page._shown[name]))


def lost(page: Page, edits: dict[str, Sent]) -> list[str]:
    """Which of these regions the page's script does not bring to what is to stand."""
    page.goto("index.html")
    return [list(edits)[at] for at in page.evaluate(MORPHED, list(edits.values()))]


@pytest.mark.parametrize("slug", catalog.slugs())
def test_an_edit_shows_all_of_the_page_that_it_leads_to(page: Page, slug: str) -> None:
    edits = dict(sent(f"?model={slug}{OPEN}"))
    assert any("data-same" in html for name, (_, html, _) in edits.items() if name.endswith(": sections"))
    assert lost(page, edits) == []


@pytest.mark.parametrize("section", [section.key for section in sections()])
def test_and_of_a_frame(page: Page, section: str) -> None:
    edits = dict(sent(f"?model=muse-spark-open&show=section-{section}&fields=gpus,batch,model", embedded=True))
    assert lost(page, edits) == []
