"""The state behind the page: typing, resets, undo, and never losing the last good results."""

from hypothesis import given, settings
from hypothesis import strategies as st

from app.state import State, usable
from envelope.scenario import BY_KEY, resolve
from tests.app.strategies import edits, states


def sessions(state: State) -> int | None:
    return state.envelope.value("sessions")


class TestTyping:
    def test_each_keystroke_is_followed(self):
        state = State()
        assert sessions(state) == 258  # the first seed's printed figure at its ratio
        state.type("context", "1M")
        assert sessions(state) == 38  # the first seed's at one million tokens
        assert state.text("context") == "1M"

    def test_a_field_that_cannot_be_read_keeps_the_last_good_results(self):
        state = State()
        state.type("context", "1M")
        state.type("context", "1Mx")
        assert state.stale
        assert state.errors == {"context": "does not know the suffix 'Mx'; accepts tokens such as 131072, 128K or 1M"}
        assert state.text("context") == "1Mx"
        assert sessions(state) == 38
        state.type("context", "128K")
        assert not state.stale and state.errors == {} and sessions(state) == 258

    def test_inconsistent_input_is_refused_where_it_is_typed(self):
        state = State()
        state.type("experts", "8")
        state.type("top_k", "9")
        assert "top_k 9 of 8 experts" in state.errors["top_k"]
        assert state.changed("top_k") and state.changed("experts")

    def test_an_emptied_field_goes_back_to_its_preset(self):
        state = State({"context": "1M"})
        state.type("context", "  ")
        assert state.texts == {} and sessions(state) == 258

    def test_a_value_equal_to_the_preset_is_no_change(self):
        state = State()
        state.type("context", "131072")
        assert not state.changed("context")
        assert state.text("context") == "131072"
        assert state.given() == {"model": "muse-spark-open"}

    def test_what_is_assumed_stays_assumed_when_it_is_typed_as_it_is(self):
        state = State()
        state.type("memory_fraction", "90%")
        assert state.text("memory_fraction") == "90%"
        assert [one.key for one in state.envelope.scenario.assumed] == [one.key for one in State().envelope.scenario.assumed]

    def test_an_unknown_field_changes_nothing(self):
        state = State()
        state.type("nonsense", "1")
        assert state.texts == {}

    @given(st.lists(edits(), max_size=12))
    @settings(max_examples=60)
    def test_whatever_is_typed_there_is_an_envelope_and_a_message_for_each_error(self, typed):
        state = State({"model": "muse-spark-open"})  # as a link says it
        for key, text in typed:
            before = state.envelope
            state.type(key, text)
            assert state.stale == bool(state.errors)
            if state.stale:
                assert state.envelope is before
                assert all(message for message in state.errors.values())
            else:
                mine, opened = state.envelope.scenario, State(state.given()).envelope.scenario
                assert mine.values == resolve(state.texts).values
                assert (opened.given, opened.values, opened.tiers, opened.assumed) == (mine.given, mine.values, mine.tiers, mine.assumed)


class TestResets:
    EDITED = {
        "model": "qwen3-235b", "layers": "60", "weight_format": "fp8", "machine": "hgx-h200", "gpus": "16",
        "gpu_hour": "9", "context": "32K", "batch": "4",
    }  # fmt: skip

    def test_another_model_resets_model_and_checkpoint(self):
        state = State(self.EDITED)
        state.set({"model": "deepseek-v3"})
        kept = {"machine": "hgx-h200", "gpus": "16", "gpu_hour": "9", "context": "32K", "batch": "4"}
        assert state.texts == {"model": "deepseek-v3", **kept}

    def test_another_machine_resets_machine_and_prices(self):
        state = State(self.EDITED)
        state.set({"machine": "hgx-b200"})
        kept = {"model": "qwen3-235b", "layers": "60", "weight_format": "fp8", "context": "32K", "batch": "4"}
        assert state.texts == {"machine": "hgx-b200", **kept}

    def test_both_are_undone_in_one_step(self):
        state = State(self.EDITED)
        state.set({"model": "deepseek-v3"})
        state.set({"machine": "hgx-b200"})
        assert state.undo() and state.undo()
        assert state.texts == self.EDITED
        assert not state.undo()

    def test_one_field_is_put_back(self):
        state = State(self.EDITED)
        state.set({"context": None})
        assert state.texts == {key: text for key, text in self.EDITED.items() if key != "context"}

    def test_all_fields_are_put_back_and_the_choices_stay(self):
        state = State(self.EDITED)
        assert state.changes() == ("layers", "weight_format", "gpus", "context", "batch", "gpu_hour")
        state.reset()
        assert state.texts == {"model": "qwen3-235b", "machine": "hgx-h200"}
        assert state.changes() == ()
        state.undo()
        assert state.texts == self.EDITED


class TestUndo:
    def test_typing_is_one_step_once_settled(self):
        state = State()
        for text in ("1", "10", "100", "100K"):
            state.type("context", text)
        assert not state.can_undo
        assert state.settle() and state.can_undo
        assert not state.settle()  # nothing more to settle
        state.undo()
        assert state.text("context") == "128K" and sessions(state) == 258
        state.redo()
        assert state.text("context") == "100K" and not state.can_redo

    def test_a_new_change_forgets_what_was_undone(self):
        state = State()
        state.set({"context": "1M"})
        state.undo()
        state.set({"context": "32K"})
        assert not state.can_redo

    @given(st.lists(edits(), min_size=1, max_size=8))
    @settings(max_examples=40)
    def test_undo_all_the_way_and_back(self, typed):
        state = State()
        seen = [dict(state.texts)]
        for key, text in typed:
            if state.set({key: text or None}):
                seen.append(dict(state.texts))
        for texts in reversed(seen[:-1]):
            assert state.undo() and state.texts == texts
        assert not state.can_undo
        for texts in seen[1:]:
            assert state.redo() and state.texts == texts


class TestComparing:
    def test_a_stays_while_b_changes(self):
        state = State()
        state.pin()
        state.set({"context": "1M"})
        assert state.pinned.value("sessions") == 258 and sessions(state) == 38
        state.swap()
        assert state.pinned.value("sessions") == 38 and sessions(state) == 258
        state.unpin()
        assert state.pinned is None


class TestUsable:
    def test_leaves_out_and_names_what_cannot_be_used(self):
        kept, errors = usable({"model": "gpt-oss-120b", "context": "zero", "batch": "0", "chunk": "4K"})
        assert kept == {"model": "gpt-oss-120b", "chunk": "4K"}
        assert sorted(error.key for error in errors) == ["batch", "context"]

    def test_an_unknown_model_leaves_the_rest(self):
        kept, errors = usable({"model": "nonesuch", "context": "1M"})
        assert kept == {"context": "1M"} and [error.key for error in errors] == ["model"]

    def test_a_custom_model_without_layers_falls_back(self):
        kept, errors = usable({"model": "custom", "context": "1M"})
        assert "model" not in kept and errors

    @given(st.lists(edits(), max_size=8).map(dict))
    @settings(max_examples=60)
    def test_always_ends_with_something_to_evaluate(self, texts):
        kept, errors = usable({key: text for key, text in texts.items() if text.strip()})
        assert State(kept).errors == {}
        assert all(error.message for error in errors)

    @given(states())
    @settings(max_examples=40)
    def test_keeps_all_of_a_good_state(self, texts):
        assert usable(texts) == (texts, ())
        assert set(State(texts).changes()) <= set(BY_KEY)
