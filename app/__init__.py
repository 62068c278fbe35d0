"""The page: Panel over envelope."""
