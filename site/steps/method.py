"""What the build writes into the pages to read, `method.html` and `post.html`.

It is made by a Python of its own, so that it describes the checkout being built and not one that the caller has
imported already.
"""

import json
import os
import sys
from pathlib import Path

from steps.commands import run


def reading_parts(root: Path) -> dict[str, str]:
    """HTML of each part by the name that the templates have for it."""
    path = os.pathsep.join([str(root), str(root / "site")])
    command = [sys.executable, "-B", "-m", "steps.method_inside"]
    return json.loads(run(command, "writing the method page", cwd=root, env={**os.environ, "PYTHONPATH": path}))
