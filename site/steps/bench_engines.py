"""The start in Firefox and in WebKit, as far as they are installed: a first visit, and a second in the same session."""

from steps.bench_chromium import Note
from steps.drivers import Session, engines, session

NAMES = ("firefox", "webkit")
SETTLED = "return ['live', 'failed'].includes(document.documentElement.dataset.state)"
SECONDS = "return (performance.getEntriesByName(arguments[0])[0]?.startTime ?? NaN) / 1000"
FROM_SNAPSHOT = """
const files = performance.getEntriesByType("resource").map(({ name }) => name);
return !files.some((name) => name.endsWith("/packages.zip"));
"""


def _visit(window: Session, url: str) -> None:
    window.open(url)
    window.wait(SETTLED)
    if window.script("return document.documentElement.dataset.state") == "failed":
        raise AssertionError(window.text("#failure"))


def measure_engines(url: str, note: Note) -> dict[str, str]:
    """Note each engine's seconds; by engine, the way it starts, or why there are none."""
    said = {name: "not installed here" for name in NAMES}
    for engine in engines():
        try:
            with session(engine) as window:
                _visit(window, url)
                note(f"{engine.name}_first_s", window.script(SECONDS, "first-contentful-paint"))  # the numbers are in the HTML
                note(f"{engine.name}_cold_s", window.script(SECONDS, "live"))
                said[engine.name] = "from the snapshot" if window.script(FROM_SNAPSHOT) else "from the packages"
                window.open("about:blank")
                _visit(window, url)
                note(f"{engine.name}_warm_s", window.script(SECONDS, "live"))
        except AssertionError as error:
            said[engine.name] = f"failed: {error}"[:200]
    return said
