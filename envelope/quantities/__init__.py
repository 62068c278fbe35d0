"""One definition per output, in the order they are listed."""

from envelope.quantities import (
    accuracy, admission, benchmark, capacity, checkpoint, cost, engine, model, parallelism, pool_mix, pools, speculation, speed,
    turn,
)  # fmt: skip
from envelope.quantities.registry import Definition

_NUMBERS = (model, capacity, pools, speed, engine)
_DECISIONS = (checkpoint, parallelism, pool_mix, speculation, cost, accuracy, benchmark, turn, admission)

ALL: tuple[Definition, ...] = tuple(definition for module in _NUMBERS + _DECISIONS for definition in module.DEFINITIONS)
BY_KEY = {definition.key: definition for definition in ALL}
