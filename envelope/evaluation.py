"""From a scenario to its envelope: each quantity found once, with what it rests on."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import Any

from envelope import experts
from envelope.checkpoint import Split, read_per_step
from envelope.model import MixtureOfExperts, Model
from envelope.quantities import ALL, BY_KEY
from envelope.quantities.registry import Definition, Found, Unavailable
from envelope.scenario import Scenario, resolve

# M (derived here) counts as A; a derived value takes the lowest tier of what it is derived from.
_RANK = {"A": 0, "M": 0, "B": 1, "C": 2, "D": 3}
_DERIVED = ("M", "B", "C", "D")


class Quantity:
    """One output of one state: value or reason, and how it came about."""

    def __init__(self, definition: Definition, found: Found | None, tier: str, reason: str) -> None:
        self.definition = definition
        self.tier = tier
        self.reason = reason
        self.note = found.note if found else ""
        self._found = found

    @property
    def key(self) -> str:
        """Stable name."""
        return self.definition.key

    @property
    def label(self) -> str:
        """What people call it."""
        return self.definition.label

    @property
    def unit(self) -> str:
        """Base unit of the value."""
        return self.definition.unit

    @property
    def value(self) -> Any:
        """Value in base units, unrounded and exact where it can be; None where `reason` says why."""
        return self._found.value if self._found else None

    @cached_property
    def working(self) -> str:
        """The formula with this state's numbers."""
        return self._found.working() if self._found else ""


class Evaluation:
    """The quantities of one scenario, found when asked for. Asking records what each one rests on."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self._found: dict[str, Quantity] = {}
        self._tiers: list[set[str]] = []
        self._once: dict[object, tuple[Any, str, frozenset[str]]] = {}

    def __getitem__(self, key: str) -> Any:
        """A quantity's value. Raises Unavailable with its reason where it has none."""
        quantity = self.quantity(key)
        if quantity.value is None:
            raise Unavailable(quantity.reason)
        self.rest_on(quantity.tier)
        return quantity.value

    def quantity(self, key: str) -> Quantity:
        """A quantity with its formula, tier and reason."""
        if key not in self._found:
            self._found[key] = self._find(BY_KEY[key])
        return self._found[key]

    def _find(self, definition: Definition) -> Quantity:
        self._tiers.append(set())
        try:
            found, reason = definition.find(self), ""
        except Unavailable as unavailable:
            found, reason = None, str(unavailable)
        tier = _DERIVED[max((_RANK[tier] for tier in self._tiers.pop()), default=0)]
        return Quantity(definition, found, tier, reason)

    def rest_on(self, tier: str) -> None:
        """Record that the quantity being found rests on something of this tier."""
        if self._tiers:
            self._tiers[-1].add(tier)

    def once(self, key: object, make: Callable[[], Any]) -> Any:
        """What `make` returns, made once per `key`; it rests on the same inputs each time. Raises Unavailable as `make` did."""
        if key not in self._once:
            self._tiers.append(set())
            found, reason = None, ""
            try:
                found = make()
            except Unavailable as unavailable:
                reason = str(unavailable)
            self._once[key] = (found, reason, frozenset(self._tiers.pop()))
        found, reason, tiers = self._once[key]
        for tier in tiers:
            self.rest_on(tier)
        if reason:
            raise Unavailable(reason)
        return found

    def input(self, key: str) -> Any:
        """An input's value, None where it is unset."""
        self.rest_on(self.scenario.tier(key))
        return self.scenario[key]

    def needed(self, key: str, why: str) -> Any:
        """An input's value. Raises Unavailable with `why` where it is unset."""
        value = self.input(key)
        if value is None:
            raise Unavailable(why)
        return value

    @property
    def model(self) -> Model:
        """The architecture. Raises Unavailable where only totals or a cache are stated."""
        if self.scenario.model is None:
            raise Unavailable(f"{self.scenario.name} states no shapes")
        if self.scenario.read_assumptions:
            self.rest_on("C")
        return self.scenario.model

    @property
    def split(self) -> Split:
        """How the checkpoint stores each part."""
        if self.scenario.split is None:
            raise Unavailable(f"{self.scenario.name} states no checkpoint")
        self.rest_on(self.scenario.tier("split"))
        return self.scenario.split

    def read(self, tokens: float) -> dict[tuple[str, str], float]:
        """Bytes of weights one step with `tokens` tokens reads, by (part, format)."""
        return _weights_read(self.model, self.split, tokens)


# A chart asks for some 125 batches of one model, and the same ones at the next edit.
@lru_cache(maxsize=1024)
def _weights_read(model: Model, split: Split, tokens: float) -> dict[tuple[str, str], float]:
    def touched(mixture: MixtureOfExperts) -> float:
        # Identity experts take part in the choice and hold nothing.
        chosen = mixture.experts + mixture.zero_experts
        return experts.touched(chosen, mixture.top_k, tokens) * mixture.experts / chosen

    return read_per_step(model, split, touched)


class Envelope:
    """All that is known of one scenario. Iterate it for the quantities; index it for one."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self._evaluation = Evaluation(scenario)

    def __getitem__(self, key: str) -> Quantity:
        return self._evaluation.quantity(key)

    def __iter__(self):
        return (self._evaluation.quantity(definition.key) for definition in ALL)

    def value(self, key: str) -> Any:
        """A quantity's value, or None."""
        return self._evaluation.quantity(key).value

    @property
    def evaluation(self) -> Evaluation:
        """Where the quantities are found; curves and findings ask it for more."""
        return self._evaluation

    @cached_property
    def findings(self):
        """What a colleague would say about this set-up, the costliest first."""
        from envelope.findings import findings

        return findings(self)

    def ask(self, find: Callable[[Evaluation], Any], otherwise: Any = None) -> Any:
        """Call `find` with the evaluation, or return `otherwise` where something it needs has no value."""
        try:
            return find(self._evaluation)
        except Unavailable:
            return otherwise


def evaluate(scenario: Scenario | str | None = None, /, **inputs: object) -> Envelope:
    """Evaluate a scenario, or the one that a model's slug and inputs describe.

    Inputs are typed text or numbers in base units: `evaluate("gpt-oss-120b", context="128K", batch=32)`.
    Raises InputError naming the field, the value and what is accepted.
    """
    if isinstance(scenario, Scenario):
        return Envelope(scenario.with_(**inputs) if inputs else scenario)
    if scenario is not None:
        inputs = {"model": scenario, **inputs}
    return Envelope(resolve(inputs))
