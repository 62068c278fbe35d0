"""The bench's arithmetic: what counts as sent twice, and its history. No timing is looked at."""

import re

from conftest import ROOT
from steps.baselines import MODULES
from steps.bench_history import COLUMNS, appended, change, line, lines, table
from steps.bench_traffic import sent_twice

RESULT = {
    "date": "2026-11-30",
    "commit": "0123456789ab",
    "load": "0.5-1.5",
    "medians": {"live_cold_s": 2.5, "edit_s": 0.05},
    "ratios": {"live_cold_over_bare": 0.5},
    "bytes": {"cold": 17_654_321, "warm": 0},
    "memory": {"tab_mb": None},
    "longest_task_ms": 250.5,
}


def test_the_same_content_counts_as_sent_twice_under_any_name() -> None:
    sent = [("/a", 3, "x"), ("/b", 4, "y"), ("/c?v=1", 3, "x"), ("/empty", 0, "z"), ("/empty", 0, "z")]
    assert sent_twice(sent) == ["/c?v=1"]
    assert sent_twice(sent[:2]) == []


def test_the_app_by_other_means_has_every_module_that_its_modules_import() -> None:
    served = {path.split("/")[-1] for path in MODULES}
    imported = {name for path in MODULES for name in re.findall(r'from "\./(.+?)"', (ROOT / path).read_text())}
    assert imported and imported <= served


def test_a_line_holds_every_column_to_the_last_byte() -> None:
    one = line(RESULT)
    assert tuple(one) == COLUMNS
    assert one["commit"] == "0123456789ab"
    assert one["bytes.cold"] == "17654321"
    assert one["bytes.warm"] == "0"
    assert one["longest_task_ms"] == "250.5"
    assert one["memory.tab_mb"] == one["medians.webkit_cold_s"] == ""  # not taken


def test_a_line_is_read_back_as_it_was_written() -> None:
    assert lines(appended("", line(RESULT))) == [line(RESULT)]
    assert lines("") == []


def test_a_commit_has_one_line() -> None:
    first = appended("", line(RESULT))
    again = appended(first, line(RESULT | {"longest_task_ms": 300}))
    assert [one["longest_task_ms"] for one in lines(again)] == ["300"]
    other = appended(again, line(RESULT | {"commit": "ba9876543210"}))
    assert [one["commit"] for one in lines(other)] == ["0123456789ab", "ba9876543210"]


def test_a_history_with_other_columns_is_carried_on() -> None:
    text = "date,commit,gone,longest_task_ms\n2026-11-01,aaaaaaaaaaaa,7,400\n"
    old, new = lines(appended(text, line(RESULT)))
    assert (old["commit"], old["longest_task_ms"], old["load"]) == ("aaaaaaaaaaaa", "400", "")
    assert new == line(RESULT)


def test_a_change_says_what_got_worse() -> None:
    assert change("2.0", 2.5) == "+25% worse"
    assert change("2.0", 2.1) == "+5%"
    assert change("2.0", 1.0) == "-50%"
    assert change("0", 0) == ""
    assert change("0", 12) == "worse: was 0"
    assert change("", 1.0) == change("1", None) == ""


def test_the_table_shows_aims_missed_and_changes() -> None:
    last = line(RESULT | {"longest_task_ms": 200, "commit": "ba9876543210"})
    rows = {row.strip().split("  ")[0]: row for row in table(RESULT, last).splitlines()}
    assert rows["longest task from the first frame on, with scrolling"].split()[-4:] == ["250.5", "300", "+25%", "worse"]
    assert rows["live over bare Pyodide, cold"].split()[-3:] == ["0.5", "0.5", "+0%"]
    assert "over 18,000,000" in table(RESULT | {"bytes": {"cold": 18_000_001}}, None)
    assert "not taken" in rows["memory of the tab, MB"]
    assert "ba9876543210 of 2026-11-30" in table(RESULT, last).splitlines()[0]


def test_the_kept_history_has_these_columns() -> None:
    header, *rows = (ROOT / "site/bench/history.csv").read_text().splitlines()
    assert header.split(",") == list(COLUMNS)
    assert all(row.count(",") == header.count(",") for row in rows)
