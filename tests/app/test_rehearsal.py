"""Edits that the page makes and takes back while nobody touches it."""

from tests.app.reader import Reader


def test_a_rehearsed_edit_changes_nothing():
    reader = Reader("?model=muse-spark-open&context=64K")
    before = reader.page.figures["pool-ratio"].labels.data["label"]
    reader.do("rehearse", turn=9, unseen=["sections"])
    nearby, again = reader.told("show")
    assert nearby["regions"].keys() == again["regions"].keys() >= {"answer", "numbers", "inputs-workload"}
    assert "bar" not in {*nearby["regions"], *again["regions"]}  # a menu that stands open there stays open
    assert "at 74K" in nearby["regions"]["answer"] and "at 64K" in again["regions"]["answer"]
    assert reader.page.figures["pool-ratio"].labels.data["label"] == before
    assert reader.page.state.given() == {"model": "muse-spark-open", "context": "64K"} and reader.page.query.endswith("&context=64K")


def test_rehearsals_begin_with_a_few_regions():
    reader = Reader()
    shown = []
    for turn in (1, 2, 9):
        reader.do("rehearse", turn=turn, unseen=["layers"])
        nearby, again = reader.told("show")
        assert nearby["regions"].keys() == again["regions"].keys()
        shown.append({*nearby["regions"]})
    assert shown[0] == {"answer", "memory"} and shown[1] == {"answer", "memory", "numbers", "findings"} and shown[1] < shown[2]
    assert {"pool-ratio", "experts"} <= reader.page.drawn.mounted.keys()  # which answer a pointer
