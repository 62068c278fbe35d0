"""Build steps of the site. `build.py` calls them; none is imported by the page."""
