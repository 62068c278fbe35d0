"""The method page, `method.html`, and the sample post: a template each, filled from the registry and the catalogue.

The content is made by a Python of its own, so that it describes the checkout being built and not one that the caller
has imported already.
"""

import json
import os
import sys
from pathlib import Path

from steps.commands import run


def method_parts(root: Path) -> dict[str, str]:
    """HTML of each part of the method page, by its name in `site/method.html`."""
    path = os.pathsep.join([str(root), str(root / "site")])
    command = [sys.executable, "-B", "-m", "steps.method_inside"]
    return json.loads(run(command, "writing the method page", cwd=root, env={**os.environ, "PYTHONPATH": path}))
