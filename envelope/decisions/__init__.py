"""The decisions before launch and the checks before traffic, in the order they are made."""

from envelope.decisions import (
    accuracy, admission, benchmark, checkpoint, context_price, models, parallelism, pools, rebuilt, speculation, turn,
)  # fmt: skip
from envelope.sections import Section

ALL: tuple[Section, ...] = (
    rebuilt.SECTION, checkpoint.SECTION, parallelism.SECTION, pools.SECTION, speculation.SECTION, context_price.SECTION,
    accuracy.SECTION, benchmark.SECTION, turn.SECTION, admission.SECTION, models.SECTION,
)  # fmt: skip
