"""What the README shows is what happens: its commands, its Python, its links and its examples of changes."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from html.parser import HTMLParser
from pathlib import Path

import pytest

from app import link
from app.embed import Embed

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
FENCED = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def fenced(language: str) -> list[str]:
    """Text of the fenced blocks in one language, in order."""
    return [text for name, text in FENCED if name == language]


def spaced(text: str) -> str:
    """A text with its spaces evened out: the README shows tables without their padding."""
    return "\n".join(" ".join(line.split()) for line in text.splitlines())


def apply(diff: str, root: Path) -> None:
    """Apply a diff without line numbers: what it keeps and removes must stand once, in order. `…` ends a line early."""
    for path, body in re.findall(r"^\+\+\+ (.+)\n((?:(?!\+\+\+).*\n)*)", diff, re.MULTILINE):
        target = root / path
        lines = target.read_text(encoding="utf-8").splitlines() if target.exists() else []
        rows = [(row[:1], row[1:]) for row in body.splitlines()]
        old = [text for sign, text in rows if sign != "+"]
        at = [start for start in range(len(lines) - len(old) + 1) if all(map(_same, old, lines[start:]))]
        assert len(at) == 1, f"{path}: {old} stands {len(at)} times"
        kept = iter(lines[at[0] :])
        new = [text if sign == "+" else next(kept) for sign, text in rows]
        new = [text for (sign, _), text in zip(rows, new, strict=True) if sign != "-"]
        lines[at[0] : at[0] + len(old)] = new
        target.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _same(shown: str, line: str) -> bool:
    return line.startswith(shown.removesuffix("…").rstrip()) if shown.endswith("…") else line == shown


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what the README's commands and changes touch."""
    folder = tmp_path_factory.mktemp("readme")
    for name in ("app", "envelope", "presets"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "tests" / "data", folder / "tests" / "data")
    return folder


def run(command: str, folder: Path) -> str:
    """What a terminal shows for a command, run with this Python as `python3`."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1", "PYTHONIOENCODING": "utf-8"}
    shell = ["bash", "-o", "pipefail", "-c", f"exec 2>&1; {command}"]
    return subprocess.run(shell, cwd=folder, env=environment, capture_output=True, text=True, check=False).stdout


def test_commands_print_and_changes_do_what_is_shown(checkout: Path) -> None:
    for language, text in FENCED:
        if language == "diff":
            apply(text, checkout)
        if language == "console":
            for command, output in re.findall(r"^\$ (.+)\n((?:(?!\$ ).*\n)*)", text, re.MULTILINE):
                assert spaced(run(command, checkout)) == spaced(output), command


def test_python_prints_what_is_shown(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("\n".join(fenced("python")), encoding="utf-8")
    assert run(f"cd {ROOT} && python3 -m doctest {tmp_path / 'README.md'}", ROOT) == ""
    assert ">>> " in (tmp_path / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("query", re.findall(r"^\| `(\?[^`]+)`", README, re.MULTILINE))
def test_a_link_says_only_what_is_understood(query: str) -> None:
    found = link.read(query)
    assert found.problems == ()
    assert found.texts["model"] in query
    written = link.write(found.texts, found.pinned)
    assert link.read(written).texts == found.texts


class _Frames(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.frames: list[dict[str, str | None]] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag == "iframe":
            self.frames.append(dict(attributes))


def test_the_embed_line_is_one_that_works() -> None:
    parser = _Frames()
    parser.feed("".join(fenced("html")))
    (frame,) = parser.frames
    assert {"allow-scripts", "allow-same-origin"} <= set(frame["sandbox"].split())
    assert frame["title"] and frame["height"]
    found = link.read(frame["src"].partition("embed.html")[2])
    assert found.problems == ()
    shown, problems = Embed.read(found.other)
    assert problems == ()
    assert (shown.show, shown.fields) == ("pool-ratio", ("context", "chunk"))


def test_its_two_first_commands_are_those_of_the_build() -> None:
    commands = [line.split("#")[0].strip() for line in fenced("")[0].splitlines()]
    assert commands == ["python3 build.py serve", "python3 build.py test"]


@pytest.mark.parametrize("command", re.findall(r"^\| `python3 build\.py (\w+)[^`]*`", README, re.MULTILINE))
def test_a_command_of_the_table_exists(command: str) -> None:
    assert run(f"python3 build.py {command} --help", ROOT).startswith(f"usage: build.py {command}")


def test_options_of_pytest_may_come_first() -> None:
    asked = "import sys; import build; import steps.testing; steps.testing.run_tests = lambda root, given, say: print(*given)"
    command = f"cd {ROOT} && python3 -c '{asked}; sys.exit(build.main(sys.argv[1:]))' test -k start tests/site"
    assert run(command, ROOT) == "-k start tests/site\n"


def test_the_tree_names_every_folder() -> None:
    tree = next(text for text in fenced("") if "envelope/" in text)
    named, parent = set(), ""
    for line in tree.splitlines():
        name = line.split()[0]
        parent = parent if line.startswith(" ") else name
        named.add(f"{parent if line.startswith(' ') else ''}{name}".rstrip("/"))
    for folder in ("app", "envelope", "presets", "site", "tests"):
        assert folder in named
    packages = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    assert {name.replace(".", "/") for name in packages} - {"envelope/presets"} <= named
    for path in named:
        assert (ROOT / path).exists(), path


def test_files_it_links_to_exist() -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (ROOT / target).exists(), target
