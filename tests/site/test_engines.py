"""The start, a preset, an edit, a link and an embed, also in Firefox and in WebKit."""

from collections.abc import Iterator

import pytest
from steps.drivers import Engine, Session, engines, session

from envelope import evaluate

LIVE = "return document.documentElement.dataset.state === 'live'"
SETTLED = "return document.documentElement.dataset.state !== 'starting'"
ANSWERS = "return document.querySelector('[data-region=answer]').textContent.includes(given[0])"
ASKED = "return new URLSearchParams(location.search).get(given[0]) === given[1]"
FOREIGN = "return performance.getEntriesByType('resource').map((one) => one.name).filter((name) => !name.startsWith(location.origin))"
FIRST_VIEW = "return document.querySelector('[data-region=shown]') !== null"
GROWN = "return document.querySelectorAll('iframe')[given[0]].getAttribute('height') !== '440'"


@pytest.fixture(scope="module", params=engines(), ids=lambda engine: engine.name)
def browser_session(request: pytest.FixtureRequest) -> Iterator[Session]:
    """One browser for the whole file; each test opens its own address."""
    engine: Engine = request.param
    with session(engine) as opened:
        yield opened


def open_live(window: Session, address: str) -> None:
    window.open(address)
    window.wait(SETTLED)
    assert window.script(LIVE), window.text("#failure")


def sessions(model: str, **inputs: str) -> str:
    """What the first line says of a state's sessions."""
    return f"{evaluate(model, **inputs).value('sessions'):,} sessions"


def test_starts_takes_a_preset_and_an_edit_and_goes_back(browser_session: Session, site_url: str) -> None:
    window = browser_session
    open_live(window, site_url)
    window.wait(ANSWERS, sessions("muse-spark-open"))
    assert window.script(FOREIGN) == []
    window.click("#choose-model option[value='gpt-oss-120b']")
    window.wait(ANSWERS, sessions("gpt-oss-120b"))
    window.type("#field-context", "32K")
    window.wait(ANSWERS, sessions("gpt-oss-120b", context="32K"))
    window.wait(ASKED, "context", "32K")
    window.back()
    window.wait(ASKED, "context", None)
    window.wait(ANSWERS, sessions("gpt-oss-120b"))


def test_a_link_opens_its_state(browser_session: Session, site_url: str) -> None:
    window = browser_session
    open_live(window, f"{site_url}?v=1&model=llama-3.1-70b&machine=hgx-h100&context=64K")
    window.wait(ANSWERS, sessions("llama-3.1-70b", machine="hgx-h100", context="64K"))
    assert window.script("return document.querySelector('#field-context').value") == "64K"


def test_the_embeds_of_the_post_say_their_height_and_start(browser_session: Session, site_url: str) -> None:
    window = browser_session
    window.open(f"{site_url}post.html")
    for number in range(3):
        window.script("document.querySelectorAll('iframe')[arguments[0]].scrollIntoView()", number)
        window.wait(GROWN, number)
    window.script("document.querySelector('iframe').scrollIntoView()")
    window.enter("figure iframe")
    window.wait(FIRST_VIEW)
    window.click("#waiting button")
    window.wait(LIVE)
    window.type("#field-context", "32K")
    window.wait(ANSWERS, sessions("muse-spark-open", context="32K"))
