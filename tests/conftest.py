"""One profile for all property tests."""

from hypothesis import settings

# An example may take as long as it does: speed is the benchmark's, and a busy machine proves nothing.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")
