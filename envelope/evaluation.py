"""From a scenario to its envelope: each quantity found once, with what it rests on."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import cached_property, lru_cache
from itertools import islice
from typing import Any, NamedTuple

from envelope import experts
from envelope.checkpoint import Split, read_per_step
from envelope.model import MixtureOfExperts, Model
from envelope.quantities import BY_KEY
from envelope.quantities.registry import Definition, Unavailable
from envelope.scenario import Scenario, resolve
from envelope.watched import EVERYTHING, Facts, Watched, changes, facts, given

# M (derived here) counts as A; a derived value takes the lowest tier of what it is derived from. One bit each, so
# that the length of those met is the lowest.
_TIER_BIT = {"A": 0, "M": 0, "B": 1, "C": 2, "D": 4}
_DERIVED = ("M", "B", "C", "D")


class Kept(NamedTuple):
    """What was found once: the result, or the reason for none; the tiers it rests on and the inputs it was found from."""

    result: Any
    reason: str
    tiers: int
    reads: int
    missing: tuple[str, ...] = ()  # inputs that would give one where there is none


# An edit changes one input, and most answers do not rest on it. The last evaluations' answers are kept with what each
# was found from, and the next evaluation takes over those that none of its changes touches: 9.5 ms became 1.8 ms.
RECENT: deque[tuple[Facts, dict[object, Kept]]] = deque(maxlen=32)


# An edit and its variants, most of which state more inputs than it.
_LOOKED_AT = 6


def _taken_over(now: Facts) -> dict[object, Kept]:
    """What still holds of the recent evaluation that differs least, the newest of equals.

    Of one where the same inputs are stated, if there is any: an edit is followed by findings' and sections' variants of
    it, and the next edit is like the last one, its variants like the last one's.
    """
    newest = tuple(reversed(RECENT))
    alike = tuple(islice((one for one in newest if given(one[0]) == given(now)), _LOOKED_AT))
    compared = ((changes(before, now), kept) for before, kept in alike or newest[:_LOOKED_AT])
    changed, kept = min(compared, key=lambda one: one[0].bit_count(), default=(EVERYTHING, {}))
    holding = kept.copy()
    for key in [key for key, one in holding.items() if one.reads & changed]:
        del holding[key]
    return holding


def _value_and_note(evaluation: Evaluation, definition: Definition) -> tuple[Any, str]:
    value, _, note = definition.find(evaluation)
    return value, note


class Quantity:
    """One output of one state: value or reason, and how it came about."""

    __slots__ = ("_evaluation", "definition", "kept", "value")

    def __init__(self, definition: Definition, kept: Kept, evaluation: Evaluation) -> None:
        self.definition = definition
        self.kept = kept
        # In base units, unrounded and exact where it can be; None where `reason` says why.
        self.value = kept.result and kept.result[0]
        self._evaluation = evaluation

    @property
    def tier(self) -> str:
        """The lowest tier of what it is derived from; M where that is all primary."""
        return _DERIVED[self.kept.tiers.bit_length()]

    @property
    def note(self) -> str:
        """What should be known beside the value; mostly empty."""
        return self.kept.result[1] if self.kept.result else ""

    @property
    def reason(self) -> str:
        """Why there is no value; empty where there is one."""
        return self.kept.reason

    @property
    def missing(self) -> tuple[str, ...]:
        """Inputs that would give it a value; empty where there is one."""
        return self.kept.missing

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
    def working(self) -> str:
        """The formula with this state's numbers."""
        # Found again, in 10 µs: what is kept of a working would hold on to its evaluation.
        return "" if self.kept.reason else self.definition.find(self._evaluation).working()


class Evaluation:
    """The quantities of one scenario, found when asked for. Asking records what each one rests on."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = Watched(scenario)
        self._tiers_met = 0
        self._tiers = scenario.tiers
        now = facts(scenario)
        self._kept = _taken_over(now)
        RECENT.append((now, self._kept))

    def __getitem__(self, key: str) -> Any:
        """A quantity's value. Raises Unavailable with its reason where it has none."""
        kept = self.kept(key)
        if kept.reason:
            raise Unavailable(kept.reason, *kept.missing)
        self._tiers_met |= kept.tiers
        return kept.result[0]

    def kept(self, key: str) -> Kept:
        """What was found of a quantity, in this evaluation or an earlier one."""
        kept = self._kept.get(key) or self._keep(key, _value_and_note, BY_KEY[key])
        self.scenario.reads |= kept.reads
        return kept

    def quantity(self, key: str) -> Quantity:
        """A quantity with its formula, tier and reason."""
        return Quantity(BY_KEY[key], self.kept(key), self)

    def _keep(self, key: object, make: Callable[..., Any], *of: object) -> Kept:
        """Keep under `key` what `make` finds of this evaluation, what it read and the tiers it met."""
        watched = self.scenario
        reads, tiers = watched.reads, self._tiers_met
        watched.reads = self._tiers_met = 0
        result, reason, missing = None, "", ()
        try:
            result = make(self, *of)
        except Unavailable as unavailable:
            reason, missing = str(unavailable), unavailable.inputs
        finally:
            met, self._tiers_met = self._tiers_met, tiers
            read = watched.reads
            watched.reads = reads | read
        kept = self._kept[key] = Kept(result, reason, met, read, missing)
        return kept

    def rest_on(self, tier: str) -> None:
        """Record that the quantity being found rests on something of this tier."""
        self._tiers_met |= _TIER_BIT[tier]

    def once(self, make: Callable[..., Any], *of: object) -> Any:
        """What `make(evaluation, *of)` returns, made once and kept while what it read stays the same. Raises Unavailable as it did.

        `make` is a function of a module, which stands for itself the next time. It reads of the evaluation and of `of`
        only, and what it returns holds nothing of the evaluation.
        """
        key = (make, of)
        kept = self._kept.get(key) or self._keep(key, make, *of)
        self.scenario.reads |= kept.reads
        self._tiers_met |= kept.tiers
        if kept.reason:
            raise Unavailable(kept.reason, *kept.missing)
        return kept.result

    def input(self, key: str) -> Any:
        """An input's value, None where it is unset."""
        self._tiers_met |= _TIER_BIT[self._tiers[key]]
        return self.scenario[key]

    def needed(self, key: str, why: str) -> Any:
        """An input's value. Raises Unavailable with `why` where it is unset."""
        value = self.input(key)
        if value is None:
            raise Unavailable(why, key)
        return value

    @property
    def model(self) -> Model:
        """The architecture. Raises Unavailable where only totals or a cache are stated."""
        if self.scenario.model is None:
            raise Unavailable(f"{self.scenario.name} states no shapes", "groups")
        if self.scenario.was_assumed:
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
        return weights_read(self.model, self.split, tokens)


# Several quantities ask for the same batch, and so does the next edit.
@lru_cache(maxsize=1024)
def weights_read(model: Model, split: Split, tokens: float) -> dict[tuple[str, str], float]:
    """Bytes of weights one step with `tokens` tokens reads, by (part, format)."""

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
        evaluation = self._evaluation
        return (Quantity(definition, evaluation.kept(key), evaluation) for key, definition in BY_KEY.items())

    def value(self, key: str) -> Any:
        """A quantity's value, or None."""
        result = self._evaluation.kept(key).result
        return result and result[0]

    @property
    def evaluation(self) -> Evaluation:
        """Where the quantities are found; curves and findings ask it for more."""
        return self._evaluation

    @cached_property
    def findings(self):
        """What a colleague would say about this set-up, the costliest first."""
        from envelope.findings import findings

        return findings(self)

    def once(self, make: Callable[..., Any], *of: object) -> Any:
        """What `make(envelope, *of)` says, kept while what it reads stays the same. Raises Unavailable as `make` did.

        Of the inputs `make` reads what `Watched` has; what it returns holds nothing of the envelope.
        """
        return self._evaluation.once(_watching, make, *of)

    def with_(self, **changes: object) -> Envelope:
        """Evaluate again with some inputs changed; None takes one back. Raises InputError."""
        return Envelope(self.scenario.with_(**changes))

    def ask(self, find: Callable[[Evaluation], Any], otherwise: Any = None) -> Any:
        """Call `find` with the evaluation, or return `otherwise` where something it needs has no value."""
        try:
            return find(self._evaluation)
        except Unavailable:
            return otherwise


class _Watching(Envelope):
    """An envelope as rules, charts and answers read it: what they read of the inputs is recorded."""

    def __init__(self, evaluation: Evaluation) -> None:
        self._evaluation = evaluation
        self.scenario = evaluation.scenario


def _watching(evaluation: Evaluation, make: Callable[..., Any], *of: object) -> Any:
    return make(_Watching(evaluation), *of)


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
