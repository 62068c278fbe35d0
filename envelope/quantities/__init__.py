"""One definition per output, in the order they are listed."""

from envelope.quantities import capacity, model, pools, speed
from envelope.quantities.registry import Definition

ALL: tuple[Definition, ...] = model.DEFINITIONS + capacity.DEFINITIONS + pools.DEFINITIONS + speed.DEFINITIONS
BY_KEY = {definition.key: definition for definition in ALL}
