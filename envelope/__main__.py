"""The command line: an envelope from the shell, the printed figures checked, configs and logs read."""

from __future__ import annotations

import argparse
import json
import operator
import os
import re
import sys
from collections.abc import Callable, Sequence
from io import TextIOWrapper
from pathlib import Path
from urllib.parse import parse_qsl

from envelope import catalog, export, logs, pasted, verify
from envelope.config import Refused
from envelope.config import read as read_config
from envelope.evaluation import Envelope
from envelope.fields.base import InputError
from envelope.quantities import BY_KEY as QUANTITIES
from envelope.scenario import BESIDE, FIELDS, Assumption, resolve
from envelope.sections import sections
from envelope.units import text

LARGEST_FILE = 32 * 2**20
_LONGEST_LINE = 1000
_COMPARISONS = {">=": operator.ge, "<=": operator.le, "==": operator.eq, ">": operator.gt, "<": operator.lt}


class Unreadable(Exception):
    """Input that cannot be used: one line for standard error."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command. Returns 0, 1 where a requirement or a figure fails, 2 for input that cannot be used."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    command = _COMMANDS.get(given[0]) if given else None
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # A terminal that has no multiplication sign gets an escape, not a failure.
            stream.reconfigure(errors="backslashreplace")
    try:
        return command(given[1:]) if command else _evaluate(given)
    except (InputError, Unreadable, Refused) as error:
        print(" ".join(str(error).split())[:_LONGEST_LINE], file=sys.stderr)
        return 2


def _write(words: str) -> None:
    """Print. A reader such as `head` that has seen enough ends the printing, not the judging. Raises Unreadable."""
    if sys.stdout is None:
        return
    try:
        sys.stdout.write(words)
        sys.stdout.flush()
    except OSError as error:
        # Python flushes once more at exit, which must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            raise Unreadable(f"standard output: {error.strerror or error}") from None


class _Parser(argparse.ArgumentParser):
    """argparse that reports in one line and never writes usage to standard output."""

    def error(self, message: str) -> None:
        raise Unreadable(f"{self.prog}: {message}; see {self.prog} --help")


def _evaluate(given: list[str]) -> int:
    parser = _Parser(prog="python3 -m envelope", description=__doc__, epilog="Commands: " + ", ".join(_COMMANDS))
    parser.add_argument("model", metavar="MODEL", help="a preset's slug, a config.json (path, or - for standard input)")
    _add_sets(parser)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="everything, in base units")
    form.add_argument("--markdown", action="store_true", help="a table to paste")
    form.add_argument("--section", choices=[one.key for one in sections()], metavar="KEY", help="one decision or check in full; see list sections")
    parser.add_argument("--require", action="append", default=[], metavar="'KEY>=NUMBER'", help="exit 1 unless it holds")
    options = parser.parse_args(given)
    requirements = [_requirement(one) for one in options.require]
    envelope = _envelope(options.model, options.set)
    if options.json:
        plain = str(getattr(sys.stdout, "encoding", "utf-8")).lower() not in ("utf-8", "utf8")
        _write(json.dumps(export.to_json(envelope), ensure_ascii=plain, indent=1, allow_nan=False) + "\n")
    elif options.section:
        _write(export.section(envelope, next(one for one in sections() if one.key == options.section)))
    else:
        _write(export.markdown(envelope) if options.markdown else export.terminal(envelope))
    return _judge(envelope, requirements)


def _add_sets(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="one input, the last of a key counts; see list fields")


def _envelope(model: str, sets: list[str]) -> Envelope:
    """Evaluate a preset, or the config at a path, with some inputs set."""
    given: dict[str, object] = {}
    assumed: tuple[Assumption, ...] = ()
    if _is_file(model):
        reading = _reading(model)
        given.update(pasted.inputs(reading, "" if model == "-" else Path(model).stem))
        assumed = pasted.assumptions(reading)
    else:
        given["model"] = model
    for one in sets:
        key, equals, value = one.partition("=")
        if not equals:
            raise Unreadable(f"--set {one[:60]!r} is not KEY=VALUE")
        given[key.strip()] = value
    return Envelope(resolve(given, assumed))


def _is_file(model: str) -> bool:
    return model == "-" or "/" in model or model.endswith(".json")


def _reading(path: str):
    """Read a config, and the two files that may lie beside it."""
    if path == "-":
        return read_config(_standard_input())
    beside = Path(path).parent
    quant, index = beside / "hf_quant_config.json", beside / "model.safetensors.index.json"
    return read_config(
        _file(Path(path)),
        _file(quant).decode("utf-8", "replace") if quant.is_file() else None,
        _file(index).decode("utf-8", "replace") if index.is_file() else None,
    )


def _file(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return _bounded(file.read(LARGEST_FILE + 1), str(path))
    except (OSError, ValueError) as error:
        raise Unreadable(f"{path}: {getattr(error, 'strerror', None) or error}") from None


def _standard_input() -> bytes:
    if sys.stdin is None:
        raise Unreadable("standard input: closed")
    try:
        return _bounded(sys.stdin.buffer.read(LARGEST_FILE + 1), "standard input")
    except OSError as error:
        raise Unreadable(f"standard input: {error.strerror or error}") from None


def _bounded(content: bytes, name: str) -> bytes:
    if len(content) > LARGEST_FILE:
        raise Unreadable(f"{name}: larger than {LARGEST_FILE >> 20} MiB")
    return content


def _requirement(words: str) -> tuple[str, Callable, float, str]:
    match = re.fullmatch(r"\s*(\w+)\s*(>=|<=|==|>|<)\s*(-?[0-9.]+(?:e[+-]?[0-9]+)?)\s*", words)
    if match is None:
        raise Unreadable(f"--require {words[:60]!r} is not KEY>=NUMBER")
    if match[1] not in QUANTITIES:
        raise Unreadable(f"--require {words[:60]!r}: no quantity {match[1]}; see list quantities")
    if QUANTITIES[match[1]].unit == "text":
        raise Unreadable(f"--require {words[:60]!r}: {match[1]} is a word, not a number")
    try:
        return match[1], _COMPARISONS[match[2]], float(match[3]), words
    except ValueError:
        raise Unreadable(f"--require {words[:60]!r} is not KEY>=NUMBER") from None


def _judge(envelope: Envelope, requirements: list[tuple[str, Callable, float, str]]) -> int:
    failed = 0
    for key, compare, bound, words in requirements:
        value = envelope.value(key)
        if value is None or not compare(float(value), bound):
            found = envelope[key].reason or export.shown(envelope, key)
            print(f"required {words.strip()}, found {found}", file=sys.stderr)
            failed = 1
    return failed


def _verify(given: list[str]) -> int:
    """Recompute every figure the two seed documents print."""
    _Parser(prog="python3 -m envelope verify").parse_args(given)
    failed = 0
    for outcome in verify.outcomes():
        _write(f"{outcome.verdict:<4} {outcome.line}\n")
        failed |= outcome.verdict == "FAIL"
    return int(failed)


def _compare(given: list[str]) -> int:
    """Print two states side by side; each a slug or a quoted link query."""
    parser = _Parser(prog="python3 -m envelope compare")
    parser.add_argument("a", metavar="A")
    parser.add_argument("b", metavar="B")
    options = parser.parse_args(given)
    a, b = _state(options.a), _state(options.b)
    table = [("", export.headline(a), export.headline(b), "difference", "ratio"), *export.comparison(a, b)]
    widths = [max(len(row[column]) for row in table) for column in range(5)]
    for row in table:
        _write("  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() + "\n")
    return 0


def _state(words: str) -> Envelope:
    if "=" not in words:
        return _envelope(words, [])
    try:
        pairs = parse_qsl(words.split("?", 1)[-1].split("#", 1)[0], keep_blank_values=True, max_num_fields=200)
    except ValueError:
        raise Unreadable(f"{words[:60]!r} has more than 200 fields") from None
    given = {key: value for key, value in pairs if key not in BESIDE and not key.startswith("a.")}
    return Envelope(resolve({"model": "muse-spark-open", **given}))


def _config(given: list[str]) -> int:
    """Print what the reader makes of a config file: read, assumed, ignored."""
    parser = _Parser(prog="python3 -m envelope config")
    parser.add_argument("path", metavar="FILE")
    options = parser.parse_args(given)
    reading = _reading(options.path)
    envelope = Envelope(resolve(pasted.inputs(reading), pasted.assumptions(reading)))
    lines = [
        f"{reading.model_type or 'no model_type'}: {text(envelope.value('resident_parameters'), 'parameters', 4)} parameters, {text(envelope.value('active_with_embeddings'), 'parameters', 4)} active",
        f"groups   {envelope.scenario['groups']}",
    ]
    for layer in export.to_json(envelope)["cache"]["layers"]:
        lines.append(f"layers   {layer['count']} {layer['kind']}: {layer['elements_per_token']} values per token, window {layer['window']}, state {layer['state_elements']}")
    lines += [f"assumed  {one.key} = {one.value}: {one.why}" for one in reading.assumed]
    lines += [f"ignored  {key}: not known here, may change a count" for key in reading.ignored]
    lines += [f"note     {note}" for note in reading.notes]
    _write("".join(line + "\n" for line in lines))
    return 0


def _log(given: list[str]) -> int:
    """Set a start-up log beside what is predicted for a model and its inputs."""
    parser = _Parser(prog="python3 -m envelope log")
    parser.add_argument("file", metavar="FILE", help="a start-up log of vLLM, SGLang or TensorRT-LLM; - for standard input")
    parser.add_argument("--model", default="muse-spark-open", metavar="MODEL", help="a preset's slug or a config.json")
    _add_sets(parser)
    options = parser.parse_args(given)
    content = _standard_input() if options.file == "-" else _file(Path(options.file))
    scenario = _envelope(options.model, options.set).scenario
    _write(logs.report(content.decode("utf-8", "replace"), scenario) + "\n")
    return 0


def _list(given: list[str]) -> int:
    """Print the catalogue's models or machines, the fields, the quantities, or the sections."""
    parser = _Parser(prog="python3 -m envelope list")
    parser.add_argument("what", choices=["models", "machines", "fields", "quantities", "sections"])
    what = parser.parse_args(given).what
    lines = {
        "models": lambda: [(slug, preset.name) for slug, preset in catalog.models().items()],
        "machines": lambda: [(key, machine.name) for key, machine in catalog.machines().items()],
        "fields": lambda: [(field.key, f"{field.kind.unit}: {field.help}") for field in FIELDS],
        "sections": lambda: [(one.key, f"{one.title} (show=section-{one.key})") for one in sections()],
        "quantities": lambda: [(key, f"{one.unit}: {one.formula}") for key, one in QUANTITIES.items()],
    }[what]()
    width = max(len(key) for key, _ in lines)
    _write("".join(f"{key:<{width}}  {words}\n" for key, words in lines))
    return 0


_COMMANDS = {"verify": _verify, "compare": _compare, "log": _log, "config": _config, "list": _list}

if __name__ == "__main__":
    raise SystemExit(main())
