"""Stands in for pyodide_http: without it Panel imports all of pandas, 4 MB, only to patch its readers of addresses."""


def patch_all():
    """Nothing to patch: the page makes no request from Python."""
