"""What axe-core finds wrong with a page for people who use it by keyboard or ear."""

import sys

from conftest import CACHE, ROOT
from playwright.sync_api import Frame, Page
from steps.fetch import obtain
from steps.lock import read_lock
from steps.packages import npm_tree

LOCK = read_lock(ROOT / "site" / "lock.toml")
SCRIPT = "axe.min.js"

# Only what axe itself calls serious or critical; best practices it is unsure of are left to people.
RUN = """async () => {
    const { violations } = await axe.run(document, { iframes: false, resultTypes: ['violations'] });
    return violations
        .filter(({ impact }) => impact === 'serious' || impact === 'critical')
        .map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.slice(0, 3).map((one) => one.html.slice(0, 160)).join(' ')}`);
}"""


def script() -> str:
    """axe-core as the lock pins it."""
    package = obtain(LOCK, LOCK.pin("axe-core"), CACHE, lambda text: print(text, file=sys.stderr))
    return npm_tree(package)[SCRIPT].decode()


def serious(page: Page | Frame) -> list[str]:
    """Serious findings, one line each; of a page with those of its frames."""
    frames = page.frames if isinstance(page, Page) else [page]
    source, found = script(), []
    for frame in frames:
        frame.evaluate(source)
        found += frame.evaluate(RUN)
    return found
