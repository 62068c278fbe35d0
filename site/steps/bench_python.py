"""Times of Python alone: an evaluation of the largest model, and reading the largest config."""

from pathlib import Path

# Both end in `times`, milliseconds. Every turn has a state or a text not seen before; what does not rest on the
# context is taken over from the turn before, as on an edit.
EVALUATE = """
import time
from envelope import catalog, evaluate
largest = max(catalog.slugs(), key=lambda slug: evaluate(slug).value("resident_parameters"))
def milliseconds(context):
    begun = time.perf_counter()
    made = evaluate(largest, context=str(context))
    [quantity.value for quantity in made], list(made.findings)
    return (time.perf_counter() - begun) * 1000
times = [milliseconds(100_000 + turn) for turn in range(40)][10:]
"""

READ_CONFIG = """
import time
from envelope.config import read
def milliseconds(turn):
    begun = time.perf_counter()
    read(text + " " * turn)
    return (time.perf_counter() - begun) * 1000
times = [milliseconds(turn) for turn in range(20)][5:]
"""

# The same in a page: a second Python from the page's own files, because the page hands out none.
IN_PAGE = """async ([codes, text]) => {
  const boot = document.querySelector("script[type=module]").src;
  const { startPython } = await import(boot.replace("boot.mjs", "python.mjs"));
  const python = await startPython({ progress() {}, loaded() {} });
  python.globals.set("text", text);
  return codes.map((code) => python.runPython(`${code}\\ntimes`).toJs());
}"""


def times(code: str, text: str) -> list[float]:
    """The times of one of the codes under this Python."""
    names: dict[str, object] = {"text": text}
    exec(code, names)
    return names["times"]


def largest_config(root: Path) -> Path:
    """The largest of the configs that the tests hold."""
    return max((root / "tests/data/configs").glob("*.json"), key=lambda path: path.stat().st_size)
