#!/usr/bin/env python3
"""Build, serve, test and measure the site. Needs Python 3.11 with pip; everything else it fetches, once."""

import argparse
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent
# `site` itself is a module of the standard library, so its steps are imported from inside it.
sys.path.insert(0, str(ROOT / "site"))

from steps.assemble import build, open_kitchen  # noqa: E402
from steps.lock import BuildError  # noqa: E402
from steps.serve import make_server  # noqa: E402

CACHE = ROOT / ".cache"
DIST = ROOT / "dist"
DEFAULT_PORT = 8000


def say(text: str) -> None:
    """One line of progress."""
    print(f"  {text}", flush=True)


def make(options: argparse.Namespace) -> None:
    """Build the site and say how large it is and how long it took."""
    begun = time.monotonic()
    dist = options.out.resolve()
    build(open_kitchen(ROOT, options.cache.resolve(), say), dist, sources=options.sources)
    size = sum(path.stat().st_size for path in dist.rglob("*") if path.is_file())
    print(f"{dist.name}/ built: {size / 1e6:.1f} MB in {time.monotonic() - begun:.0f} s")


def command_build(options: argparse.Namespace) -> int:
    make(options)
    return 0


def command_serve(options: argparse.Namespace) -> int:
    make(options)
    server = make_server(options.out, options.port)
    port = server.server_address[1]
    if port != options.port:
        print(f"port {options.port} is taken; using {port}")
    print(f"serving on http://localhost:{port}/ (stop with Ctrl-C)", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        print()
    return 0


def command_test(options: argparse.Namespace) -> int:
    from steps.testing import run_tests

    return run_tests(ROOT, options.pytest, say)


def command_bench(options: argparse.Namespace) -> int:
    from steps.testing import run_in_environment

    arguments = ["--repeats", str(options.repeats), *(["--record"] if options.record else [])]
    written = ["--json", str(options.json.resolve())] if options.json else []
    return run_in_environment(ROOT, ["-m", "steps.bench", *arguments, *written], say)


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="build.py", description=__doc__)
    commands = top.add_subparsers(dest="command", metavar="COMMAND")

    def site_command(name: str, run: object, text: str) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=text, description=text)
        command.set_defaults(run=run)
        return command

    for name, run, text in (
        ("build", command_build, "write dist/, a folder any static host can serve (the default)"),
        ("serve", command_serve, "build, then serve on localhost"),
    ):
        command = site_command(name, run, text)
        command.add_argument("--out", type=Path, default=DIST, help="folder to write (default: dist)")
        command.add_argument("--cache", type=Path, default=CACHE, help="folder that keeps downloads (default: .cache)")
        command.add_argument("--sources", action="store_true", help="keep Python sources: slower to start, lines in tracebacks")
        if name == "serve":
            command.add_argument("--port", type=int, default=DEFAULT_PORT, help="default: 8000, or a free one if taken")
    test = site_command("test", command_test, "run all tests, in .venv, with browsers (both set up when missing)")
    test.add_argument("pytest", nargs="*", help="passed on to pytest, options too: tests/envelope -k start")
    text = "measure start, edits and embeds in Chromium beside bare Pyodide and micropip, and the start in Firefox and WebKit"
    bench = site_command("bench", command_bench, text)
    bench.add_argument("--json", type=Path, help="write the figures to this file")
    bench.add_argument("-n", "--repeats", type=int, default=5, help="repeats per figure (default: 5)")
    bench.add_argument("--record", action="store_true", help="add a line to site/bench/history.csv, which later runs compare with")
    return top


def main(arguments: list[str]) -> int:
    # What follows `test` is pytest's, options too, which argparse would take for its own.
    passed_on = arguments[1:] if arguments[:1] == ["test"] and arguments[1:2] not in (["-h"], ["--help"]) else []
    options = parser().parse_args(arguments[: len(arguments) - len(passed_on)] or ["build"])
    options.pytest = passed_on
    if options.command is None:
        parser().error("say what to do: build, serve, test or bench")
    try:
        return options.run(options)
    except BuildError as error:
        print(f"build.py: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
