"""Write what fills the pages to read as JSON on standard output: HTML by the names in their templates."""

import json
import re
import sys
from collections.abc import Iterable
from html import escape

from app import link
from envelope import Envelope, catalog, evaluate, export
from envelope.quantities import ALL, BY_KEY
from envelope.scenario import BY_KEY as INPUTS
from envelope.scenario import FIELDS, Scenario
from envelope.sections import Section, sections

from steps.method_catalogue import catalogue_parts
from steps.method_markup import element, folded_table, slug, table, words

# States worth opening, and why. The first is the one every quantity is worked at; one that has no value there is
# worked at the first of these that gives it one.
STATES: tuple[tuple[str, dict[str, str]], ...] = (
    ("the default state", {"model": "muse-spark-open"}),
    ("the same node at SGLang's default pool ratio", {"model": "muse-spark-open", "pool_ratio": "0.8"}),
    ("one million tokens", {"model": "muse-spark-open", "context": "1M"}),
    ("as many short sessions as long ones", {"model": "muse-spark-open", "mix": "32K:1,128K:1"}),
    ("the machines for a thousand users at 40 tokens per second", {"model": "muse-spark-open", "sessions_wanted": "1000", "speed_wanted": "40"}),
    ("one latent record per token: attention is copied, not split", {"model": "deepseek-v3", "machine": "hgx-h200"}),
    ("windows of 128 tokens on one card", {"model": "gpt-oss-120b", "machine": "hgx-h100", "gpus": "1"}),
    ("an even batch of dense layers", {"model": "llama-3.1-70b", "machine": "hgx-h100", "batch": "64"}),
    ("only a cache is stated", {"model": "deepseek-v4.1-flash"}),
    ("pinned host memory for idle caches", {"model": "muse-spark-open", "host_cache_per_rank": "200GB"}),
    (
        "a drafter's cycle as timed, the second seed's example",
        {"model": "muse-spark-open", "step_ms": "30", "verify_ms": "42", "draft_ms": "8", "other_ms": "5", "acceptance": "3.2", "draft_weight_bytes": "4GB", "draft_cache_bytes_per_token": "2048"},
    ),
    ("a score of your own beside the published one", {"model": "muse-spark-open", "score": "97.4"}),
    ("two requests a second that stay 20 seconds", {"model": "muse-spark-open", "arrival_per_s": "2", "residence_s": "20"}),
)  # fmt: skip

GROUP_TITLES = {"model": "The model", "speed": "Speed", "engine": "What the engine makes of it", "cost": "Cost", "turn": "Turns"}

_NAME = re.compile(r"\b[a-z][a-z0-9_]*\b")


def link_to(given: dict[str, str], page: str = "index.html") -> str:
    """Address of a state in the calculator or an embed, as an attribute holds it."""
    return escape(page + link.write(given))


def where(envelope: Envelope) -> str:
    """A state in words: the headline, and what else was set."""
    scenario = envelope.scenario
    more = [f"{INPUTS[key].label.lower()} {scenario.echo(key)}" for key in scenario.given if key not in ("model", "machine", "gpus", "context", "mix")]
    return ", ".join([export.headline(envelope), *more])


def linked(formula: str, own: str) -> str:
    """A formula as HTML, the names in it leading to their own definitions."""

    def anchor(match: re.Match[str]) -> str:
        name = match[0]
        if name == own or (name not in BY_KEY and name not in INPUTS):
            return name
        return f'<a href="#{name if name in BY_KEY else "input-" + name}">{name}</a>'

    return _NAME.sub(anchor, escape(formula, quote=False))


def quantity(key: str, states: list[tuple[dict[str, str], Envelope]]) -> str:
    """One definition, worked at the first state that gives it a value."""
    definition = BY_KEY[key]
    given, envelope = next(((given, e) for given, e in states if e.value(key) is not None), states[0])
    found = envelope[key]
    open_state = f'<a href="{link_to(given)}">{escape(where(envelope))}</a>'
    rows = (
        ("Formula", linked(definition.formula, key)),
        ("Leaves out", escape(definition.leaves_out)),
        ("Source", escape(definition.source)),
        ("Worked", f"{escape(found.working or found.reason)} <span class=at>{open_state}, tier {found.tier}</span>"),
        ("Note", escape(found.note)),
    )
    return element(
        "article",
        f'<h4><a href="#{key}">{escape(definition.label)}</a> <code>{key}</code> <span class=unit>{escape(definition.unit)}</span></h4>',
        f"<p class=figure>{escape(export.shown(envelope, key))}</p>",
        words((name, text) for name, text in rows if text),
        id=key,
        class_="quantity",
    )


def group_title(group: str) -> str:
    return GROUP_TITLES.get(group, group.capitalize())


def groups() -> dict[str, list[str]]:
    """Keys of the quantities by group, in their order."""
    found: dict[str, list[str]] = {}
    for definition in ALL:
        found.setdefault(definition.group, []).append(definition.key)
    return found


def quantities(states: list[tuple[dict[str, str], Envelope]]) -> str:
    """Every quantity under the title of its group."""
    parts = []
    for group, keys in groups().items():
        parts.append(f'<h3 id="group-{slug(group)}">{escape(group_title(group))}</h3>')
        parts += [quantity(key, states) for key in keys]
    return "\n".join(parts)


def index() -> str:
    """All quantities by name, to jump to."""
    rows = [
        (escape(group_title(group)), ", ".join(f'<a href="#{key}">{escape(BY_KEY[key].label)}</a>' for key in keys))
        for group, keys in groups().items()
    ]
    return words(rows, class_="words index")


def decisions(envelope: Envelope) -> str:
    """Every decision and check, answered in one state."""
    intro = f"<p>Each answered for {escape(where(envelope))}.</p>"
    return element("section", "<h2>Decisions and checks</h2>", intro, *(decision(one, envelope) for one in sections()), id="decisions")


def decision(section: Section, envelope: Envelope) -> str:
    """One decision: its answer, what it says, its tables, and the quantities and inputs it rests on."""
    content = section.content(envelope)
    names = [f'<a href="#{key}">{escape(BY_KEY[key].label)}</a>' for key in content.quantities]
    names += [_input_name(key) for key in content.inputs]
    return element(
        "article",
        f'<h3><a href="#section-{section.key}">{escape(section.title)}</a></h3>',
        f"<p>{escape(section.answer(envelope))}</p>",
        *(f"<p>{escape(text)}</p>" for text in content.paragraphs),
        *(
            folded_table(one.title, one.columns, [[escape(cell) for cell in row] for row in one.rows], f"<p>{escape(one.note)}</p>" if one.note else "")
            for one in content.tables
        ),
        f"<p class=at>Rests on {', '.join(names)}.</p>" if names else "",
        id=f"section-{section.key}",
        class_="decision",
    )


def assumed(presets: Iterable[Scenario]) -> str:
    """What is assumed at the defaults of every preset, one row per assumption."""
    rows: dict[tuple[str, str, str], list[str]] = {}
    for scenario in presets:
        for one in scenario.assumed:
            shown = INPUTS[one.key].kind.echo(one.value) if one.key in INPUTS and one.value is not None else str(one.value)
            rows.setdefault((one.key, shown, one.why), []).append(scenario.name)
    count = len(catalog.slugs())
    return table(
        "What is assumed",
        ("Input", "Taken as", "Why", "For"),
        [
            (_input_name(key), escape(shown), escape(why), "every model" if len(names) == count else escape(", ".join(names)))
            for (key, shown, why), names in rows.items()
        ],
    )


def _input_name(key: str) -> str:
    return f'<a href="#input-{key}">{escape(INPUTS[key].label)}</a>' if key in INPUTS else escape(key)


def inputs(scenario: Scenario) -> str:
    """Every input: key, unit, default and help."""
    rows = []
    for field in FIELDS:
        default = scenario.text(field.key) or "not set"
        if len(default) > 60:
            default = "the model's"
        rows.append(
            (
                f'<span id="input-{field.key}">{escape(field.label)}</span> <code>{field.key}</code>',
                escape(field.kind.unit),
                escape(default),
                escape(field.help),
            )
        )
    return table("Inputs", ("Input", "Unit", "Default", "What it is"), rows)


def worked_states(states: list[tuple[dict[str, str], Envelope]]) -> str:
    """The worked states with their first answer."""
    rows = []
    for (why, _), (given, envelope) in zip(STATES, states, strict=True):
        rows.append((f'<a href="{link_to(given)}">{escape(where(envelope))}</a>', escape(why), escape(export.shown(envelope, "sessions"))))
    return table("Worked states", ("State", "Shows", BY_KEY["sessions"].label), rows)


def contents() -> str:
    """The table of contents."""
    entries = [("reading", "How to read it"), ("assumed", "What is assumed"), ("worked", "Worked states"), ("numbers", "Numbers")]
    entries += [(f"group-{slug(group)}", group_title(group)) for group in groups()]
    entries += [("decisions", "Decisions and checks"), ("inputs", "Inputs"), ("machines", "Machines"), ("models", "Models"), ("prices", "List prices"), ("guidance", "Guidance and measurements")]
    items = "".join(f'<li{" class=inner" if key.startswith("group-") else ""}><a href="#{key}">{escape(title)}</a></li>' for key, title in entries)
    return f"<ul>{items}</ul>"


def parts() -> dict[str, str]:
    """Every part of the page by name."""
    states = [(given, evaluate(**given)) for _, given in STATES]
    default = states[0][1]
    return {
        "worked": f"{escape(where(default))}, unless another state is named",
        "toc": contents(),
        "assumed": assumed(evaluate(slug).scenario for slug in catalog.slugs()),
        "states": worked_states(states),
        "index": index(),
        "quantities": quantities(states),
        "sections": decisions(default),
        "inputs": inputs(default.scenario),
        "page": link_to(default.scenario.given),
        "embed": link_to(default.scenario.given, "embed.html"),
        **catalogue_parts(),
    }


if __name__ == "__main__":
    json.dump(parts(), sys.stdout)
