"""How serving engines lay the cache out: each policy read in the engine's own released source, named beside the rule."""
