"""The build takes only what the lock file names, once, and gives the same bytes each time."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from conftest import CACHE, ROOT
from steps.fetch import obtain
from steps.lock import BuildError, read_lock, verified
from steps.version import git_version

LOCK = read_lock(ROOT / "site" / "lock.toml")
NO_NETWORK = {
    "HTTP_PROXY": "http://127.0.0.1:9",
    "HTTPS_PROXY": "http://127.0.0.1:9",
    "ALL_PROXY": "http://127.0.0.1:9",
    "NO_PROXY": "",
    "PIP_NO_INDEX": "1",
    "npm_config_offline": "true",
}


def run_build(root: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    lower = {key.lower(): value for key, value in environment.items() if key.isupper()}
    return subprocess.run(
        [sys.executable, str(root / "build.py"), *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, **environment, **lower},
        check=False,
    )


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_second_build_downloads_nothing_and_is_identical(source: Path, dist: Path, tmp_path: Path) -> None:
    # Only the downloads are carried over, so everything is compiled and packed again.
    cache = tmp_path / "cache"
    shutil.copytree(CACHE / "downloads", cache / "downloads")
    done = run_build(source, "build", "--out", str(tmp_path / "again"), "--cache", str(cache), **NO_NETWORK)
    assert done.returncode == 0, done.stderr
    assert "fetching" not in done.stdout
    assert contents(tmp_path / "again") == contents(dist)


def test_a_damaged_file_is_refused_in_one_line(dist: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    shutil.copytree(CACHE / "downloads", cache / "downloads")
    damaged = cache / "downloads" / LOCK.pin("bokeh").file
    damaged.write_bytes(damaged.read_bytes() + b"x")
    done = run_build(ROOT, "build", "--out", str(tmp_path / "out"), "--cache", str(cache), **NO_NETWORK)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert LOCK.pin("bokeh").file in done.stderr and "site/lock.toml" in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_file_with_another_hash_is_refused() -> None:
    with pytest.raises(BuildError, match="SHA-256 is 2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"):
        verified(LOCK.pin("panel"), b"x")  # the SHA-256 of the letter x


def test_a_missing_file_without_network_says_what_to_do(tmp_path: Path) -> None:
    done = run_build(ROOT, "build", "--out", str(tmp_path / "out"), "--cache", str(tmp_path / "empty"), **NO_NETWORK)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert "check the network" in done.stderr


def test_the_lock_names_every_file_it_ships(dist: Path) -> None:
    assert {pin.name for pin in LOCK.used_by("page")} == {
        "pyodide", "zstddec", "@bokeh/bokehjs", "@bokeh/numbro", "fflate", "flatbush", "flatqueue", "sprintf-js",
        "bokeh", "panel", "param", "pyviz_comms", "jinja2", "packaging", "markupsafe", "pyyaml",
    }  # fmt: skip
    assert all(len(pin.sha256) == 64 for pin in LOCK.pins)


def test_bokehs_two_halves_are_of_one_version() -> None:
    assert LOCK.pin("@bokeh/bokehjs").version == LOCK.pin("bokeh").version


def test_cached_files_are_taken_without_asking_anyone(dist: Path) -> None:
    said: list[str] = []
    for pin in LOCK.used_by("page"):
        assert obtain(LOCK, pin, CACHE, said.append).name == pin.file
    assert said == []


def test_packages_are_sourceless_bytecode(dist: Path) -> None:
    for archive in (*dist.glob("runtime-*/packages.zip"), *dist.glob("runtime-*/stdlib.zip"), *dist.glob("app-*/app.zip")):
        names = zipfile.ZipFile(archive).namelist()
        assert any(name.endswith(".pyc") for name in names)
        assert not any(name.endswith(".py") for name in names)


def test_every_command_has_one_line_of_help() -> None:
    text = run_build(ROOT, "--help").stdout
    for command in ("build", "serve", "test", "bench"):
        assert any(line.split()[:1] == [command] and len(line.split()) > 3 for line in text.splitlines()), command
    assert run_build(ROOT, "unheard-of").returncode == 2


def test_the_wheel_carries_the_presets(source: Path, tmp_path: Path) -> None:
    project = tmp_path / "project"  # a copy, because setuptools leaves its work behind
    shutil.copytree(source, project)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    done = subprocess.run([*command, "--wheel-dir", str(tmp_path), str(project)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    names = set(zipfile.ZipFile(next(tmp_path.glob("serving_envelope-*.whl"))).namelist())
    for path in sorted((source / "presets").rglob("*")):
        if path.is_file():
            assert f"envelope/presets/{path.relative_to(source / 'presets').as_posix()}" in names
    for path in sorted((source / "envelope").rglob("*.py")):
        assert path.relative_to(source).as_posix() in names


def test_the_version_is_the_commit_and_says_when_the_checkout_differs(tmp_path: Path) -> None:
    def git(*arguments: str) -> str:
        who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        return subprocess.run(["git", *who, *arguments], cwd=tmp_path, capture_output=True, text=True, check=True).stdout.strip()

    git("init", "-q")
    (tmp_path / "file").write_text("1")
    git("add", "file")
    git("commit", "-q", "-m", "one")
    commit = git("rev-parse", "HEAD")[:12]
    assert git_version(tmp_path) == commit
    (tmp_path / "file").write_text("2")
    assert git_version(tmp_path) == f"{commit}-dirty"
