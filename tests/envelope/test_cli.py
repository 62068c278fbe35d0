"""The command line: what it prints, where, and how it exits."""

import io
import json
import os
import subprocess
import sys

import pytest

from envelope import export, evaluate
from envelope.__main__ import main
from envelope.parameters import PARTS
from envelope.scenario import FIELDS
from envelope.sections import sections


@pytest.fixture
def run(capsys):
    def call(*arguments):
        code = main(arguments)
        out, err = capsys.readouterr()
        return code, out, err

    return call


class TestEvaluate:
    def test_json_is_the_stable_form(self, run):
        code, out, err = run("muse-spark-open", "--set", "context=128K", "--json")
        document = json.loads(out)
        assert (code, err) == (0, "")
        assert (document["version"], document["data"]) == (1, "2026-11-30")
        assert document["scenario"]["context"] == 131_072
        assert document["scenario"]["groups"].startswith("h8192.v202048.max1048576~tower.vision1900000000")
        assert set(document["scenario"]) == {field.key for field in FIELDS}
        assert set(document["quantities"]["sessions"]) == {"value", "unit", "formula", "working", "tier", "source", "note", "reason"}
        assert document["quantities"]["sessions"]["value"] == 258
        assert document["parameters"]["total"] == 822_005_480_576
        assert document["cache"]["layers"][1] == {"kind": "sliding", "count": 46, "elements_per_token": 2048, "window": 2048, "state_elements": 0}

    def test_a_model_that_does_not_fit_still_exits_0(self, run):
        code, out, _ = run("muse-spark-open", "--set", "gpus=1", "--json")
        document = json.loads(out)
        assert code == 0
        assert document["quantities"]["sessions"]["value"] is None
        assert document["quantities"]["sessions"]["reason"]
        assert document["findings"][0]["severity"] == "error"

    def test_a_stated_cache_has_every_part_without_a_count(self, run):
        document = json.loads(run("deepseek-v4.1-flash", "--json")[1])
        assert document["parameters"]["groups"] == dict.fromkeys(PARTS)
        assert document["quantities"]["best_pool_ratio"]["reason"] == "a stated cache per token adds no window, so there is one pool and no ratio"

    def test_markdown_is_a_table(self, run):
        _, out, _ = run("muse-spark-open", "--markdown")
        assert "| Sessions | 258 sessions |" in out

    @pytest.mark.parametrize("section", sections(), ids=lambda one: one.key)
    def test_a_section_in_full(self, run, section):
        code, out, err = run("muse-spark-open", "--section", section.key)
        envelope = evaluate()
        assert (code, err) == (0, "")
        assert out.splitlines()[:2] == ["Muse Spark Open on HGX B300 × 8, 128K", f"{section.title}: {section.answer(envelope)}"]
        content = section.content(envelope)
        assert all(f"({key})" in out and envelope[key].definition.formula in out for key in content.quantities)
        assert all(table.title in out for table in content.tables) and all(f"--set {key}=" in out or f"--set '{key}=" in out for key in content.inputs)

    def test_an_unknown_section_is_one_line_on_standard_error(self, run):
        code, out, err = run("muse-spark-open", "--section", "moon")
        assert (code, out) == (2, "") and "invalid choice: 'moon'" in err and err.count("\n") == 1

    def test_the_terminal_form_names_what_is_assumed(self, run):
        _, out, _ = run("gpt-oss-120b")
        assert "memory_fraction 0.9" in out

    def test_a_config_by_path_and_from_standard_input(self, run, monkeypatch):
        path = "tests/data/configs/openai--gpt-oss-120b.json"
        assert json.loads(run(path, "--json")[1])["parameters"]["total"] == 116_829_156_672
        with open(path, "rb") as file:
            monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(file.read())))
        assert json.loads(run("-", "--json")[1])["parameters"]["total"] == 116_829_156_672

    @pytest.mark.parametrize(
        "arguments",
        [
            ["gpt-5"],
            ["muse-spark-open", "--set", "context=0"],
            ["muse-spark-open", "--set", "top_k=300"],
            ["muse-spark-open", "--set", "global_layers=99"],
            ["muse-spark-open", "--set", "contxt=1"],
            ["muse-spark-open", "--set", "context"],
            ["muse-spark-open", "--require", "sessions"],
            ["muse-spark-open", "--require", "sezzions>=1"],
            ["muse-spark-open", "--nope"],
            ["muse-spark-open", "--require", "pool_binds==1"],
            ["muse-spark-open", "--require", "sessions>=\u0663"],
            ["muse-spark-open", "--set", "layers=100000000"],
            ["llama-3.1-70b", "--set", "layers=0"],
            ["muse-spark-open", "--set", "context=1,5"],
            ["muse-spark-open", "--set", "name=\udcff"],
            ["./no/such/config.json"],
            ["./tests"],
            ["/dev/zero"],
            ["compare", "muse-spark-open", "&".join(f"a{i}=1" for i in range(300))],
            ["log", "no-such.log"],
            ["log"],
            [],
        ],
    )
    def test_unusable_input_exits_2_with_one_line_on_standard_error(self, run, arguments):
        code, out, err = run(*arguments)
        assert (code, out) == (2, "")
        assert err.count("\n") == 1 and err.strip()

    @pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00", b"[" * 5000, b"9" * 100_000, b" " * (32 * 2**20 + 1)], ids=["empty", "no text", "deep", "digits", "large"])
    def test_unusable_standard_input_exits_2_with_one_line(self, run, monkeypatch, content):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
        code, out, err = run("-")
        assert (code, out, err.count("\n")) == (2, "", 1)

    def test_closed_standard_input_exits_2(self, run, monkeypatch):
        monkeypatch.setattr("sys.stdin", None)
        assert run("-")[::2] == (2, "standard input: closed\n")

    def test_the_line_names_a_derived_value_in_decimals(self, run):
        assert run("muse-spark-open", "--set", "headroom=10%", "--set", "pool_ratio=0.2")[2] == "headroom: '0.1' applies to the best ratio only; pool_ratio is given\n"

    def test_the_last_of_a_key_counts(self, run):
        assert json.loads(run("muse-spark-open", "--set", "context=1M", "--set", "context=32K", "--json")[1])["scenario"]["context"] == 32_768

    def test_the_line_names_field_value_and_what_is_accepted(self, run):
        assert run("muse-spark-open", "--set", "context=soon")[2] == "context: 'soon' accepts tokens such as 131072, 128K or 1M\n"

    def test_a_requirement_that_fails_exits_1(self, run):
        assert run("muse-spark-open", "--require", "sessions>=200")[0] == 0
        code, _, err = run("muse-spark-open", "--require", "sessions>=300")
        assert (code, err) == (1, "required sessions>=300, found 258 sessions\n")

    def test_a_requirement_on_what_has_no_value_fails(self, run):
        assert run("muse-spark-open", "--set", "gpus=1", "--require", "sessions>=0")[0] == 1


class TestStreams:
    """What a shell may do to the three streams; each in a process of its own."""

    def call(self, words, **streams):
        return subprocess.run([sys.executable, "-m", "envelope", *words], stderr=subprocess.PIPE, text=True, **streams)

    def test_a_reader_that_closes_early_changes_no_verdict(self):
        for words, code in ((["list", "fields"], 0), (["muse-spark-open", "--json", "--require", "sessions>=999"], 1)):
            reader, writer = os.pipe()
            os.close(reader)
            done = self.call(words, stdout=writer)
            os.close(writer)
            assert done.returncode == code
            assert "Traceback" not in done.stderr and "Broken" not in done.stderr

    def test_a_full_disk_is_one_line(self):
        with open("/dev/full", "w") as full:
            done = self.call(["muse-spark-open"], stdout=full)
        assert (done.returncode, done.stderr) == (2, "standard output: No space left on device\n")

    @pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
    def test_json_is_json_in_any_encoding(self, encoding):
        done = self.call(["muse-spark-open", "--json"], stdout=subprocess.PIPE, env=os.environ | {"PYTHONIOENCODING": encoding})
        assert json.loads(done.stdout)["quantities"]["sessions"]["value"] == 258


class TestCommands:
    def test_verify_prints_a_verdict_per_figure_and_no_failure(self, run):
        code, out, _ = run("verify")
        verdicts = [line.split()[0] for line in out.splitlines()]
        assert code == 0
        assert len(verdicts) == 136
        assert set(verdicts) == {"ok", "open"} and verdicts.count("open") == 2

    def test_compare_takes_a_link_as_the_page_writes_it(self, run):
        link = "https://host.example/?v=1&data=2026-11-30&model=muse-spark-open&context=1M&open=pools,turn"
        assert run("compare", "muse-spark-open", link)[:2] == run("compare", "muse-spark-open", "context=1M")[:2]

    def test_sections_are_listed_with_the_name_that_shows_them(self, run):
        assert "turn           Cost per turn (show=section-turn)" in run("list", "sections")[1]

    def test_compare_shows_both_and_the_ratio(self, run):
        code, out, _ = run("compare", "deepseek-v3", "model=deepseek-v3&cache_format=fp8")
        assert code == 0
        assert next(line.split() for line in out.splitlines() if line.startswith("Sessions")) == ["Sessions", "128", "sessions", "256", "sessions", "+128", "sessions", "2.00×"]

    @pytest.mark.parametrize(("what", "key"), [("models", "deepseek-v3"), ("machines", "hgx-b300"), ("fields", "context"), ("quantities", "sessions")])
    def test_list_names_the_keys(self, run, what, key):
        code, out, _ = run("list", what)
        assert code == 0
        assert key in [line.split()[0] for line in out.splitlines()]

    def test_config_prints_what_was_read(self, run):
        code, out, _ = run("config", "tests/data/configs/openai--gpt-oss-120b.json")
        assert code == 0
        assert "18 sliding" in out and "116.8 B" in out


    def test_log_sets_measured_beside_predicted(self, run, tmp_path):
        path = tmp_path / "start.log"
        path.write_text("INFO 11-20 gpu_worker.py:436] Available KV cache memory: 57.16 GiB\n\xff\n", encoding="latin-1")
        code, out, err = run("log", str(path), "--model", "gpt-oss-120b", "--set", "engine=vllm", "--set", "gpus=1")
        assert (code, err) == (0, "")
        assert out.startswith("vLLM") and "57.16 GiB" in out


class TestExport:
    def test_the_python_call_reproduces_the_state(self):
        envelope = evaluate("qwen3-235b", context="32K", batch=4)
        names: dict = {}
        exec(export.python_call(envelope.scenario).replace("\n\nevaluate(", "\n\nfound = evaluate("), names)
        assert names["found"].scenario.values == envelope.scenario.values

    def test_the_shell_line_quotes_what_a_shell_would_take(self):
        scenario = evaluate("qwen3-235b", mix="32K:1,128K:1").scenario
        assert export.shell_line(scenario) == "python3 -m envelope qwen3-235b --set mix=32K:1,128K:1\n"

    def test_markdown_keeps_typed_text_from_becoming_markup(self):
        text = evaluate("muse-spark-open").scenario
        from envelope.groups import write

        envelope = evaluate("custom", groups=write(text.model), name="<b>|x|</b>")
        assert "<b>" not in export.markdown(envelope)
