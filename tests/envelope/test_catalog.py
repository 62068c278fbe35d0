"""The catalogue: literal values from the sources its files name, and rules that hold for every row."""

import hashlib
import json
from dataclasses import FrozenInstanceError, fields, is_dataclass

import pytest

from envelope import catalog
from envelope.checkpoint import Rule, Split, read_split
from envelope.formats import FORMATS
from envelope.parameters import PARTS
from envelope.records import Checkpoint, Machine, ModelPreset, Price, Provenance, Rental, Sourced, SourcedFormats, UnknownPreset

MACHINES = (
    "hgx-b300", "hgx-b200", "gb200-nvl72", "gb300-nvl72", "hgx-h200", "hgx-h100", "h20-8", "a100-80-8", "l40s-8",
    "rtx-4090", "rtx-5090", "rtx-pro-6000-blackwell", "mi300x-8", "mi325x-8", "mi355x-8", "dgx-spark",
    "mac-studio-m3-ultra", "mac-studio-m5-ultra", "tpu-v5e", "tpu-v6e", "tpu-v7x", "gaudi-3",
)  # fmt: skip


def records(value):
    """Every record inside a value, itself included."""
    if is_dataclass(value):
        yield value
        for f in fields(value):
            yield from records(getattr(value, f.name))
    elif isinstance(value, tuple):
        for item in value:
            yield from records(item)
    elif hasattr(value, "values"):
        for item in value.values():
            yield from records(item)


def everything():
    for part in (catalog.machines(), catalog.models(), catalog.all_prices(), catalog.traffic()):
        yield from records(part if hasattr(part, "values") or isinstance(part, tuple) else (part,))


def test_the_catalogue_has_one_date():
    assert catalog.date() == "2026-11-30"


def test_models_and_machines_come_in_the_order_they_are_offered():
    assert tuple(catalog.models()) == catalog.slugs() == (
        "muse-spark-open", "gpt-oss-120b", "qwen3-235b", "deepseek-v3", "llama-3.1-70b", "deepseek-v4.1-flash",
    )  # fmt: skip
    assert tuple(catalog.machines()) == MACHINES


# Driver figures where one was read, else marketed; HGX B300 by the 2.1 TB board.
@pytest.mark.parametrize(
    ("machine_id", "memory", "bandwidth", "gpus"),
    [
        ("hgx-b300", 262_500_000_000, 8_000_000_000_000, 8),
        ("hgx-b200", 192_265_846_784, 7_672_000_000_000, 8),
        ("gb200-nvl72", 198_674_743_296, 8_000_000_000_000, 4),
        ("gb300-nvl72", 298_013_687_808, 8_000_000_000_000, 4),
        ("hgx-h200", 150_754_820_096, 4_800_000_000_000, 8),
        ("hgx-h100", 85_520_809_984, 3_350_000_000_000, 8),
        ("h20-8", 102_625_181_696, 4_000_000_000_000, 8),
        ("a100-80-8", 85_899_345_920, 2_039_000_000_000, 8),
        ("l40s-8", 48_305_799_168, 864_000_000_000, 8),
        ("rtx-4090", 25_757_220_864, 1_008_000_000_000, None),
        ("rtx-5090", 34_190_917_632, 1_792_000_000_000, None),
        ("rtx-pro-6000-blackwell", 102_641_958_912, 1_792_000_000_000, 8),
        ("mi300x-8", 206_141_652_992, 5_300_000_000_000, 8),
        ("mi325x-8", 256_000_000_000, 6_000_000_000_000, 8),
        ("mi355x-8", 309_220_868_096, 8_000_000_000_000, 8),
        ("dgx-spark", 130_596_048_896, 273_000_000_000, 1),
        ("mac-studio-m3-ultra", 512_000_000_000, 800_000_000_000, 1),
        ("mac-studio-m5-ultra", 512_000_000_000, 1_200_000_000_000, 1),
        ("tpu-v5e", 16_000_000_000, 819_000_000_000, 8),
        ("tpu-v6e", 34_359_738_368, 1_638_000_000_000, 4),
        ("tpu-v7x", 206_158_430_208, 7_380_000_000_000, 4),
        ("gaudi-3", 128_000_000_000, 3_670_000_000_000, 8),
    ],
)
def test_memory_bandwidth_and_gpus_per_node(machine_id, memory, bandwidth, gpus):
    machine = catalog.machine(machine_id)
    assert machine.memory.value == memory
    assert machine.bandwidth.value == bandwidth
    assert (machine.gpus_per_node.value if machine.gpus_per_node else None) == gpus


def test_hgx_b300_says_what_other_sources_say():
    machine = catalog.machine("hgx-b300")
    assert machine.short_name == "HGX B300"
    assert machine.memory_is == "marketed"
    assert machine.memory_driver.value == 288_400_343_040
    assert "a driver reports 288.4e9" in machine.memory.note
    assert [a.value for a in machine.memory.alternates] == [288_000_000_000, 270_000_000_000]
    assert [a.value for a in machine.bandwidth.alternates] == [7_750_000_000_000, 7_700_000_000_000]
    assert machine.scale_up.value == 900_000_000_000
    assert machine.host_link.value == 128_000_000_000
    assert machine.host_memory.value == 2_000_000_000_000


@pytest.mark.parametrize(
    ("machine_id", "rates"),
    [
        ("hgx-b300", (2.25e15, 4.5e15, 13.5e15, 153.5e12)),
        ("gb300-nvl72", (2.5e15, 5e15, 15e15, 165e12)),
        ("hgx-h200", (989e12, 1_979e12, None, 1_979e12)),
        ("a100-80-8", (312e12, None, None, 624e12)),
        ("mi355x-8", (2_516e12, 5_033e12, 10_066e12, 5_000e12)),
        ("mac-studio-m5-ultra", (None, None, None, None)),
        ("dgx-spark", (None, None, 500e12, None)),
    ],
)
def test_dense_rates_and_what_is_not_known_stays_absent(machine_id, rates):
    machine = catalog.machine(machine_id)
    found = (machine.bf16, machine.fp8, machine.fp4, machine.int8)
    assert tuple(rate.value if rate else None for rate in found) == rates
    for name, rate in zip(("bf16", "fp8", "fp4", "int8"), rates, strict=True):
        assert (name in machine.absent) == (rate is None)


@pytest.mark.parametrize(
    ("machine_id", "format_key", "rate"),
    [
        ("hgx-b300", "nvfp4", 13.5e15),
        ("hgx-b300", "nvfp4_modelopt", 13.5e15),
        ("hgx-b300", "mxfp4", 13.5e15),
        ("mi355x-8", "mxfp4", 10_066e12),
        ("mi355x-8", "nvfp4", None),
        ("hgx-h200", "nvfp4", None),
        ("hgx-h200", "mxfp4", None),
        ("hgx-h200", "fp8_block", 1_979e12),
        ("a100-80-8", "fp8", None),
        ("hgx-b300", "int4", None),
        ("mac-studio-m5-ultra", "bf16", None),
    ],
)
def test_a_stored_format_is_multiplied_as_it_is_or_not_at_all(machine_id, format_key, rate):
    found = catalog.machine(machine_id).rate(format_key)
    assert (found.value if found else None) == rate


@pytest.mark.parametrize("machine_id", MACHINES)
def test_a_machine_with_an_fp4_rate_names_its_formats(machine_id):
    machine = catalog.machine(machine_id)
    assert bool(machine.fp4_formats.value) == (machine.fp4 is not None)


@pytest.mark.parametrize(
    ("machine_id", "usd", "date"),
    [
        ("hgx-b300", 6.77, "2026-10-15"),
        ("hgx-b200", 5.0, "2026-09-20"),
        ("hgx-h200", 4.95, "2026-10-24"),
        ("hgx-h100", 3.64, "2026-10-24"),
        ("mi355x-8", 2.1, "2026-04-03"),
    ],
)
def test_the_first_rental_row_is_the_default(machine_id, usd, date):
    rental = catalog.machine(machine_id).gpu_hour
    assert (rental.usd_per_gpu_hour, rental.date) == (usd, date)


def test_hgx_b300_rentals_hold_the_three_of_the_envelope_post():
    rows = [(r.usd_per_gpu_hour, r.date) for r in catalog.machine("hgx-b300").rental[:3]]
    assert rows == [(6.77, "2026-10-15"), (7.35, "2026-10-22"), (9.5, "2026-10-07")]


def test_a_machine_nobody_rents_has_no_hourly_price():
    assert catalog.machine("h20-8").gpu_hour is None
    assert catalog.machine("mac-studio-m5-ultra").absent["rental"].startswith("bought, not rented: 5,499 USD")


# USD per million tokens: input, cached input, output.
@pytest.mark.parametrize(
    ("slug", "provider", "price"),
    [
        ("muse-spark-open", "OpenRouter", (1.25, 0.15, 4.25)),
        ("gpt-oss-120b", "OpenRouter", (0.1, None, 0.5)),
        ("qwen3-235b", "OpenRouter", (0.13, None, 0.6)),
        ("deepseek-v3", "OpenRouter", (0.2574, None, 1.0287)),
        ("llama-3.1-70b", "OpenRouter", (0.72, None, 0.72)),
        ("deepseek-v4.1-flash", "DeepSeek off-peak", (0.15, 0.003, 0.6)),
    ],
)
def test_the_list_price_is_the_first_row_of_the_model(slug, provider, price):
    first = catalog.prices(slug)[0]
    assert first.provider == provider
    assert (first.input, first.cached, first.output) == price


def test_prices_also_cover_models_that_are_no_preset():
    assert len(catalog.all_prices()) == 43
    assert {p.slug for p in catalog.all_prices()} == set(catalog.slugs()) | {None}
    assert catalog.prices("kimi-k2-thinking") == ()


# SHA-256 of the public files.
@pytest.mark.parametrize(
    ("slug", "digest", "model_type"),
    [
        ("gpt-oss-120b", "16ab7c244969a11c430e3b01da1fca8e842f82b057db4c0a1397f8381bf7ac5a", "gpt_oss"),
        ("qwen3-235b", "0ecd5d6fe6f2db6739e4e36ab06b88ebe7bd013ef31b9583f43796059a2b23a4", "qwen3_moe"),
        ("deepseek-v3", "83c004ce1072723d175d384feff8d3a5d675aab7f7a902528e170a400a535314", "deepseek_v3"),
        ("llama-3.1-70b", "5866f0abbb3050fd6948c0afde03651b2445a16480338ff01dc11d4a12ccd3f2", "llama"),
    ],
)
def test_configs_are_the_public_files_byte_for_byte(slug, digest, model_type):
    model = catalog.model(slug)
    assert hashlib.sha256(model.config).hexdigest() == digest
    config = json.loads(model.config)
    assert config["model_type"] == model_type
    assert config["max_position_embeddings"] == model.max_context.value


def test_muse_spark_open_is_the_shapes_of_its_card():
    model = catalog.model("muse-spark-open")
    shape = model.shape
    assert model.config is None
    assert (shape.layers, shape.hidden, shape.window, shape.vocabulary) == (62, 8_192, 2_048, 202_048)
    assert (shape.q_heads, shape.kv_heads, shape.head_dim, shape.attention_output_gate) == (128, 16, 64, "full")
    assert (shape.experts, shape.top_k, shape.latent_width, shape.expert_width) == (256, 8, 4_096, 4_096)
    assert (shape.vision_tower, shape.audio_tower) == (1_900_000_000, 118_000_000)
    assert (shape.tied, shape.norms) == (False, False)
    assert shape.global_layers == tuple(i for i in range(62) if (62 - 1 - i) % 4 == 0)
    assert len(shape.global_layers) == 16
    assert model.cache_format == "fp8"


def test_muse_spark_open_keeps_the_first_and_last_layers_experts_in_bf16():
    model = catalog.model("muse-spark-open")
    split = read_split(model.checkpoint().split)
    assert split == Split("bf16", (Rule("routed_experts", "nvfp4", tuple(range(1, 61))),))
    assert [c.key for c in model.checkpoints] == ["nvfp4", "mxfp4", "bf16"]
    assert [c.stated_bytes.value for c in model.checkpoints] == [532_700_000_000, 508_500_000_000, 1_644_000_000_000]
    assert model.checkpoint().hub_parameters.value == 484_000_000_000


def test_deepseek_v41_flash_is_a_stated_cache():
    model = catalog.model("deepseek-v4.1-flash")
    assert model.stated_cache.value == 890
    assert (model.config, model.shape, model.checkpoints) == (None, None, ())


@pytest.mark.parametrize(
    ("slug", "key", "size"),
    [
        ("gpt-oss-120b", "mxfp4", 65_248_815_744),
        ("qwen3-235b", "bf16", 470_187_269_120),
        ("deepseek-v3", "fp8_block", 688_586_727_753),
        ("llama-3.1-70b", "bf16", 141_107_412_992),
        ("llama-3.1-70b", "int4_awq", 39_767_785_472),
        ("muse-spark-open", "nvfp4", None),
    ],
)
def test_published_sizes_are_exact_or_absent(slug, key, size):
    found = catalog.model(slug).checkpoint(key).published_bytes
    assert (found.value if found else None) == size


@pytest.mark.parametrize(
    ("slug", "total", "active"),
    [
        ("muse-spark-open", 822_000_000_000, 42_000_000_000),
        ("gpt-oss-120b", 116_829_156_672, 5_100_000_000),
        ("qwen3-235b", 235_093_634_560, 22_000_000_000),
        ("deepseek-v3", 671_000_000_000, 37_000_000_000),
        ("llama-3.1-70b", 70_553_706_496, None),
    ],
)
def test_published_totals(slug, total, active):
    model = catalog.model(slug)
    assert model.published_total.value == total
    assert (model.published_active.value if model.published_active else None) == active


def test_every_checkpoint_is_stored_in_known_formats_and_parts():
    for model in catalog.models().values():
        assert len({c.key for c in model.checkpoints}) == len(model.checkpoints)
        for checkpoint in model.checkpoints:
            split = read_split(checkpoint.split)
            assert str(split) == checkpoint.split
            assert checkpoint.key in FORMATS
            assert {rule.pattern for rule in split.rules} <= {*PARTS, "mlp.gate", "mlp.gate.vectors"}


def test_the_agent_replay():
    replay = catalog.traffic().replays["openhands"]
    assert (replay.turns, replay.first_turn_tokens, replay.new_tokens, replay.output_tokens) == (13, 74_160, 753, 220)
    assert (replay.total_tokens_per_gpu_second, replay.gpus, replay.sessions) == (80_300, 8, 128)
    assert (replay.tokens_per_second_per_user, replay.pool_ratio, replay.acceptance_is) == (61, 0.8, "assumed")
    assert replay.model in catalog.models() and replay.machine in catalog.machines()


def test_published_pool_ratios():
    assert [ratio.value for ratio in catalog.traffic().pool_ratios] == [0.8, 0.4, 0.2, 0.15, 0.1]


def test_reference_scores_name_their_harness():
    gsm8k = [s for s in catalog.traffic().scores if s.benchmark == "GSM8K"]
    assert [(s.weight_format, s.harness, s.low, s.high) for s in gsm8k] == [
        ("nvfp4", "SGLang launch post", 97.80, 97.80),
        ("bf16", "SGLang launch post", 97.73, 97.73),
        ("mxfp4", "SGLang launch post", 97.42, 97.57),
        ("mxfp4", "AMD vLLM", 94.4, 95.5),
    ]
    (gpqa,) = [s for s in catalog.traffic().scores if s.benchmark == "GPQA Diamond"]
    assert (gpqa.low, gpqa.high) == (88.38, 90.04)


def test_measured_speculation():
    traffic = catalog.traffic()
    dflash = {p.concurrency: p.speedup for p in traffic.speculation if p.drafter == "DFlash V2"}
    assert dflash == {4: 1.71, 32: 1.31}
    muse = [(a.value, a.acceptance_is) for a in traffic.acceptances if a.model == "muse-spark-open"]
    assert muse == [(4.5, "assumed"), (4.16, "measured")]
    assert (traffic.verify_step.concurrency, traffic.verify_step.value) == (4, 1.8)


def test_published_guidance():
    guidance = catalog.traffic().guidance
    assert (guidance["expert_parallelism"].low, guidance["drop_drafter"].low) == (32, 64)
    assert (guidance["pool_headroom"].low, guidance["pool_headroom"].high) == (0.10, 0.20)


def test_where_sources_disagree_the_note_says_by_how_much():
    seen = 0
    for record in everything():
        for alternate in getattr(record, "alternates", ()):
            difference = (alternate.value - record.value) / record.value
            by = f"{difference:+.1%}" if difference < 2 else f"×{difference + 1:.0f}"
            assert by in record.note, record
            seen += 1
    assert seen > 15


def test_every_value_names_a_source_that_can_be_read():
    for record in everything():
        if isinstance(record, Provenance):
            assert len(record.source) > 12, record


def test_an_unknown_preset_says_what_there_is():
    with pytest.raises(UnknownPreset) as error:
        catalog.model("muse")
    assert str(error.value) == (
        "no model 'muse'; there are muse-spark-open, gpt-oss-120b, qwen3-235b, deepseek-v3, llama-3.1-70b, "
        "deepseek-v4.1-flash"
    )
    with pytest.raises(KeyError, match="no machine 'b300'; there are hgx-b300"):
        catalog.machine("b300")
    with pytest.raises(KeyError, match="no checkpoint of gpt-oss-120b 'bf16'; there are mxfp4"):
        catalog.model("gpt-oss-120b").checkpoint("bf16")


def test_a_change_offers_the_value_that_held_on_the_date_of_the_link(monkeypatch):
    rows = [
        {"preset": "hgx-b300", "key": "gpu_hour", "old": "6.77", "date": "2026-12-15"},
        {"preset": "hgx-b300", "key": "gpu_hour", "old": "7.10", "date": "2027-01-10"},
    ]
    monkeypatch.setattr(catalog, "_catalogue", lambda: {"date": "2027-01-10", "models": [], "changes": rows})
    assert [c.old for c in catalog.changes_since("2026-11-30")] == ["6.77"]
    assert [c.old for c in catalog.changes_since("2026-12-20")] == ["7.10"]
    assert catalog.changes_since("2027-01-10") == ()


def test_nothing_has_changed_yet():
    assert catalog.changes_since("2026-11-30") == ()


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Sourced(source="a datasheet", tier="E", value=1), "tier 'E' is not one of A, B, C, D, M"),
        (lambda: Sourced(source="a datasheet", tier="A", value=0), "value must be above 0, not 0"),
        (lambda: Sourced(source="a datasheet", tier="A", value=1, date="May"), "date 'May' is not a year"),
        (lambda: Sourced(source="", tier="A", value=1), "source is empty"),
        (lambda: ModelPreset(slug="x", name="X", repo="x/x"), "x: exactly one of config, shape and stated_cache"),
    ],
)
def test_records_refuse_what_makes_no_sense(build, message):
    with pytest.raises(ValueError, match=message):
        build()


def test_a_machine_accounts_for_every_missing_value():
    known = Sourced(source="a datasheet", tier="B", value=1)
    none = SourcedFormats(source="a datasheet", tier="B", value=())
    with pytest.raises(ValueError, match=r"x: absent names \[\], missing are \['bf16', 'fp4', 'fp8'"):
        Machine(
            id="x", name="X", short_name="X", vendor="X", arch="X", memory_is="marketed",
            memory_marketed=known, bandwidth=known, fp4_formats=none,
        )  # fmt: skip


@pytest.mark.parametrize("kind", [Rental, Price, Checkpoint, Machine, ModelPreset])
def test_records_are_frozen(kind):
    record = next(r for r in everything() if isinstance(r, kind))
    with pytest.raises(FrozenInstanceError):
        record.note = "edited"
