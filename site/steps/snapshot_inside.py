"""Runs inside Pyodide before its memory is kept: load every module of the app, and make the first views.

The views also fill the app's caches and bring in what it imports late.
"""

import gc
import importlib
import json
import pkgutil
import types

from js import keep

import app
import envelope
import panel.io.location  # noqa: F401  asked for when a document is shown
from app import prerender
import param
from bokeh.core.property.bases import Property
from bokeh.core.property.descriptors import PropertyDescriptor

for package in (app, envelope):
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)

for slug in prerender.slugs():
    view = str(prerender.page_view(slug))
    keep(f"first/{slug}.json", json.dumps({"html": view}))
    if slug == prerender.DEFAULT:
        keep("first.html", view)
        keep("noscript.html", str(prerender.without_scripts(slug)))
    for show in prerender.EMBEDDED:
        keep(f"first/{slug}.{show}.json", json.dumps({"html": str(prerender.embed_view(slug, show))}))
keep("default", prerender.DEFAULT)
del keep, view


def forget_help() -> None:
    """Drop the texts that only documentation shows: a megabyte, half of it built when Bokeh is imported."""
    for thing in gc.get_objects():
        if isinstance(thing, types.FunctionType | PropertyDescriptor | Property):
            thing.__doc__ = None
        if isinstance(thing, Property):
            thing._help = None
        elif isinstance(thing, param.Parameter):
            object.__setattr__(thing, "doc", None)


forget_help()
