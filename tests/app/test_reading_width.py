"""What is long has room, and what belongs together stays together, however narrow the page is."""

import pytest

from app.markup import unbroken
from tests.app.reader import Reader


@pytest.mark.parametrize(
    ("model", "key", "room"),
    [("muse-spark-open", "weight_format", "row"), ("deepseek-v3", "weight_format", "row wide"), ("muse-spark-open", "reference_harness", "row wide")],
)
def test_a_long_choice_stands_under_its_name(model: str, key: str, room: str):
    reader = Reader(f"?model={model}&open=checkpoint,accuracy")
    rows = [row for name in ("inputs-checkpoint", "sections") for row in reader.region(name).all("div", data_row=key)]
    assert rows and {row.attributes["class"] for row in rows} == {room}


@pytest.mark.parametrize(
    ("words", "written"),
    [("822.0 B", "822.0\u00a0B"), ("at 54.1 GB each", "at 54.1\u00a0GB each"), ("7.85K tok/s", "7.85K tok/s"), ("258 sessions", "258\u00a0sessions"), ("8 of 256", "8 of 256")],
)
def test_a_unit_stays_with_its_number(words: str, written: str):
    assert unbroken(words) == written


def test_cells_of_a_wide_table_say_their_column_where_they_stand_apart():
    tables = Reader("?open=checkpoint").region("sections").all("table")
    formats = next(table for table in tables if "File" in [head.text for head in table.all("th", scope="col")])
    assert formats.attributes["class"] == "rows stacked"
    columns = [head.text for head in formats.all("th", scope="col")]
    first = formats.one("tbody").all("tr")[0]
    assert [cell.attributes["data-label"] for cell in first.all("td")] == columns[1:]
