"""What the page calls itself: the commit it was built from, and the catalogue's date."""

import subprocess
import tomllib
from pathlib import Path


def git_version(root: Path) -> str:
    """Twelve digits of the commit, `-dirty` when the checkout differs from it; without git, pyproject's version."""

    def git(*arguments: str) -> str | None:
        try:
            done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=False)
        except FileNotFoundError:
            return None
        return done.stdout.strip() if done.returncode == 0 else None

    commit = git("rev-parse", "--short=12", "HEAD")
    if commit is None:
        return tomllib.loads((root / "pyproject.toml").read_text())["project"]["version"]
    return commit + ("-dirty" if git("status", "--porcelain") else "")


def catalogue_date(root: Path) -> str:
    """The one date of everything under `presets/`, `YYYY-MM-DD`."""
    return str(tomllib.loads((root / "presets" / "catalogue.toml").read_text())["date"])
