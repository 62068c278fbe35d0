"""Every rule that may speak, in no order: findings are sorted by what they cost."""

from envelope.rules import capacity, decisions, doubts, engine

ALL = capacity.RULES + decisions.RULES + doubts.RULES + engine.RULES
