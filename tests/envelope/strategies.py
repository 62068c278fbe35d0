"""Hypothesis strategies for models and inputs, shared by the property tests."""

from __future__ import annotations

from hypothesis import strategies as st

from envelope.model import (
    CompressedAttention,
    Dense,
    HeadAttention,
    Indexer,
    LatentAttention,
    LayerGroup,
    LinearAttention,
    MixtureOfExperts,
    Model,
)

small = st.integers(1, 64)
width = st.integers(1, 8192)
vectors = st.integers(0, 10_000)
gates = st.sampled_from(["", "full", "head"])


@st.composite
def head_attentions(draw: st.DrawFn) -> HeadAttention:
    kv_heads = draw(small)
    return HeadAttention(
        kv_heads * draw(st.integers(1, 8)),
        kv_heads,
        draw(width),
        draw(st.one_of(st.just(0), width)),
        window=(window := draw(st.one_of(st.just(0), st.integers(1, 10_000)))),
        chunked=bool(window) and draw(st.booleans()),
        gate=draw(gates),
        owns_cache=draw(st.booleans()),
        projects_kv=draw(st.booleans()),
        shares_kv_projection=draw(st.booleans()),
        cross=draw(st.booleans()),
        vectors=draw(vectors),
    )


indexers = st.builds(Indexer, small, small, st.integers(1, 4096), st.booleans(), vectors)
latent_attentions = st.builds(
    LatentAttention, small, width, st.integers(0, 256), st.integers(0, 128), small,
    query_rank=st.integers(0, 2048), gate=gates, indexer=st.one_of(st.none(), indexers), vectors=vectors,
)  # fmt: skip
compressed_attentions = st.builds(
    CompressedAttention, small, width, st.sampled_from([4, 128]), st.integers(0, 4096), st.integers(0, 2048),
    st.integers(0, 2048), st.just(1), indexer=st.one_of(st.none(), indexers), state=vectors, vectors=vectors,
)  # fmt: skip
linear_attentions = st.builds(
    LinearAttention, st.sampled_from(LinearAttention.FLAVOURS), small, small, small,
    conv_channels=st.integers(0, 8192), conv_kernel=st.integers(0, 8), vectors=vectors,
)  # fmt: skip
attentions = st.one_of(head_attentions(), latent_attentions, compressed_attentions, linear_attentions, st.none())


@st.composite
def mixtures(draw: st.DrawFn) -> MixtureOfExperts:
    experts = draw(st.integers(1, 512))
    return MixtureOfExperts(
        experts,
        draw(st.integers(1, experts)),
        draw(width),
        draw(st.sampled_from([2, 3])),
        latent=draw(st.one_of(st.just(0), width)),
        shared_width=draw(st.one_of(st.just(0), width)),
        shared_gate=draw(st.booleans()),
        zero_experts=draw(st.integers(0, 64)),
        expert_vectors=draw(vectors),
        router_vectors=draw(vectors),
    )


feed_forwards = st.one_of(st.builds(Dense, width, st.sampled_from([2, 3]), vectors), mixtures(), st.none())


@st.composite
def models(draw: st.DrawFn) -> Model:
    """Models of one to four kinds of layer, in blocks or interleaved."""
    counts = draw(st.lists(st.integers(1, 20), min_size=1, max_size=4))
    order = [index for index, count in enumerate(counts) for _ in range(count)]
    if draw(st.booleans()):
        order = draw(st.permutations(order))
    groups = tuple(
        LayerGroup(
            count,
            draw(attentions),
            draw(feed_forwards),
            norms=draw(vectors),
            other=draw(vectors),
            positions=tuple(place for place, kind in enumerate(order) if kind == index),
        )
        for index, count in enumerate(counts)
    )
    return Model(
        draw(width),
        draw(st.integers(1, 300_000)),
        groups,
        tied=draw(st.booleans()),
        final=draw(vectors),
        towers=draw(st.sampled_from([(), (("vision", 1_900_000_000),)])),
    )


PRESETS = ("muse-spark-open", "gpt-oss-120b", "qwen3-235b", "deepseek-v3", "llama-3.1-70b")
presets = st.sampled_from(PRESETS)
contexts = st.integers(1, 2**21)
ratios = st.fractions(min_value="1/1000", max_value=1, max_denominator=10_000)
