"""A number that is missing for want of an input leads to that input."""

import pytest
from envelope import catalog

from tests.app.reader import Reader


def asked_for(reader: Reader) -> set[str]:
    ways = (one for name in reader.page._shown for one in reader.region(name).all("button", data_do="find"))
    return {way.attributes["data-key"] for way in ways}


class TestPointing:
    def test_a_model_without_shapes_asks_for_its_weights_by_the_field_s_name(self):
        reader = Reader("?model=deepseek-v4.1-flash")
        assert asked_for(reader) == {"weight_bytes"}
        assert "states no shapes: give Weight bytes" in reader.region("answer").text

    @pytest.mark.parametrize("model", catalog.models())
    def test_each_way_ends_at_its_field(self, model: str):
        reader = Reader(f"?model={model}")
        reader.do("fold", name="all-numbers", open="True")
        for key in asked_for(reader):
            reader.do("find", key=key)
            assert reader.told("find") == [{"do": "find", "key": key}]
            assert any(reader.region(name).all("input", id=f"field-{key}") for name in reader.page._shown)
