"""Run the tools the build leans on, with one line said when they fail."""

import subprocess
import sys
from pathlib import Path

from steps.lock import BuildError

LONGEST_LINE = 300  # a stack trace may quote a megabyte of minified script


def run(command: list[str], what: str, *, remedy: str = "check the network and run again", **options: object) -> str:
    """Standard output of a command; a BuildError with its last line if it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    except FileNotFoundError as error:
        raise BuildError(f"{what}: {command[0]} is not installed; install it and run again.") from error
    if done.returncode:
        last = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()[-1][:LONGEST_LINE]
        raise BuildError(f"{what} failed ({last}); {remedy}.")
    return done.stdout


def pip_download(requirement: str, folder: Path, *options: str) -> None:
    """Download one wheel by name into a folder."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
    run([*command, *options, "--dest", str(folder), requirement], f"pip download {requirement}")
