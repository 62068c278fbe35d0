"""What stands around a figure: the title that states the finding, the data as a table and as a file."""

from __future__ import annotations

import csv
import io

from envelope.chart import Chart

from app.markup import Markup, button, join, tag
from app.plan import tick_text

_EVERY = 5  # of some 50 points, those the table shows


def heading(chart: Chart) -> Markup:
    """The title that states the finding, and what the axes are, or why there is no chart."""
    return join(tag("h3", chart.title), tag("p", chart.reason or chart.subtitle, class_="note" if chart.reason else "subtitle"))


def more(chart: Chart, table_open: bool) -> Markup | None:
    """What else can be had of a chart: the data as a table, and files."""
    if chart.reason:
        return None
    return tag(
        "details",
        tag("summary", "data"),
        tag(
            "div",
            tag("p", button("CSV", "csv", data_chart=chart.key), " ", button("PNG", "picture", data_chart=chart.key)),
            table(chart) if table_open else None,
        ),
        data_fold=f"table-{chart.key}",
        class_="data",
        open=table_open,
    )


def table(chart: Chart) -> Markup:
    """A chart's marks and main line as a table."""
    rows = [(mark.label, tick_text(mark.x, chart.x_unit), tick_text(mark.y, chart.y_unit)) for mark in chart.marks]
    for one in chart.series:
        rows += [(one.label, tick_text(x, chart.x_unit), tick_text(y, chart.y_unit)) for x, y in list(zip(one.x, one.y, strict=True))[::_EVERY]]
    return tag(
        "table",
        tag("caption", chart.title, class_="unseen"),
        tag("thead", tag("tr", (tag("th", name, scope="col") for name in ("Series", chart.x_label, chart.y_label)))),
        tag("tbody", (tag("tr", tag("th", label, scope="row"), tag("td", x, class_="number"), tag("td", y, class_="number")) for label, x, y in rows)),
        class_="rows",
    )


def as_csv(chart: Chart) -> str:
    """A chart's data in base units: one row a point."""
    out = io.StringIO()
    write = csv.writer(out, lineterminator="\n").writerow
    write(["series", chart.x_label.removesuffix(" (log)"), chart.y_label, "note"])
    for one in chart.series:
        for x, y, more in zip(one.x, one.y, one.hover or [""] * len(one.x), strict=True):
            write([one.label, x, y, more])
    return out.getvalue()
