"""Hypothesis strategies for what a person may type into the form, shared by the tests of the app."""

from __future__ import annotations

from hypothesis import strategies as st

from app.state import usable
from envelope import catalog
from envelope.fields.base import Field
from envelope.scenario import BY_KEY, FIELDS, resolve

DEFAULTS = resolve({})
models = st.sampled_from(catalog.slugs())
machines = st.sampled_from(tuple(catalog.machines()))

_BY_UNIT = {
    "tokens": st.one_of(st.integers(1, 2**21).map(str), st.sampled_from(["8K", "32K", "128K", "1M", "0.5M", "200,000"])),
    "count": st.integers(1, 4096).map(str),
    "bytes": st.sampled_from(["80 GB", "79.6GiB", "262.5 GB", "1.2TB", "532700000000"]),
    "bytes/s": st.sampled_from(["8 TB/s", "900GB/s", "3350000000000"]),
    "share": st.sampled_from(["85%", "0.5", "1", "90 %", ".25"]),
    "number": st.decimals(1, 1000, places=2).map(str),
    "tokens/s": st.decimals(1, 1000, places=1).map(str),
    "USD": st.decimals(0, 100, places=2).map(lambda price: f"${price}"),
    "seconds": st.sampled_from(["30 ms", "3.6 s", "5min", "2"]),
    "ratio": st.one_of(st.just("best"), st.decimals("0.001", 1, places=4).map(str)),
    "mix": st.sampled_from(["32K:1,128K:1", "8K:100", "1M", "2K:3;64K:1"]),
    "text": st.text(min_size=1, max_size=30).filter(str.strip),
}  # fmt: skip
_NUMBERS = st.decimals("0.1", 100, places=1).map(str)  # what any other unit takes


def typed(field: Field) -> st.SearchStrategy[str]:
    """Texts of the sort a field takes; not all are possible together with the rest."""
    choices = DEFAULTS.choices(field.key)
    return st.sampled_from([key for key, _ in choices]) if choices else _BY_UNIT.get(field.kind.unit, _NUMBERS)


anything = st.text(max_size=40)
hostile = st.sampled_from([
    "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "javascript:alert(1)", "{{7*7}}", "&lt;b&gt;",
    "' onfocus='alert(1)", "\u202e128K", "1e999", "-0", "NaN", "∞", "128K\n", "a" * 5000,
])  # fmt: skip


@st.composite
def edits(draw: st.DrawFn) -> tuple[str, str]:
    """One field and what is typed into it: mostly of its sort, at times anything."""
    field = draw(st.sampled_from(FIELDS))
    return field.key, draw(st.one_of(typed(field), typed(field), anything, hostile))


@st.composite
def states(draw: st.DrawFn) -> dict[str, str]:
    """Texts of a state that can be computed."""
    keys = draw(st.lists(st.sampled_from(sorted(BY_KEY)), max_size=8, unique=True))
    texts = {"model": draw(models), "machine": draw(machines)}
    texts |= {key: draw(typed(BY_KEY[key])) for key in keys if key not in ("model", "machine", "groups", "split")}
    return usable(texts)[0]
