"""Runs inside Pyodide before its memory is kept: load every module of the app, and make the first views.

The views also fill the app's caches and bring in what it imports late.
"""

import importlib
import json
import pkgutil

from js import keep

import app
import envelope
import panel.io.location  # noqa: F401  asked for when a document is shown
from app import prerender

for package in (app, envelope):
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)

for slug in prerender.slugs():
    view = prerender.page_view(slug)
    keep(f"first/{slug}.json", json.dumps(view))
    if slug == prerender.DEFAULT:
        keep("first.html", view["html"])
    for show in prerender.EMBEDDED:
        keep(f"first/{slug}.{show}.json", json.dumps(prerender.embed_view(slug, show)))
keep("default", prerender.DEFAULT)
del keep, view
