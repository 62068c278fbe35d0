"""The tests. None of them checks how long something takes, so that a busy machine fails none."""

from hypothesis import settings

settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")
