"""Serving envelope: the numbers that decide how a model serves, from its config."""
