"""Inputs that say what is asked of the deployment and what it costs."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

from envelope import catalog
from envelope.fields.base import (
    CHOICE, COUNT, MIX, NUMBER, SHARE, SPEED, TOKENS, UNSET, USD, Default, Field, Known, constant, exact,
)  # fmt: skip

TRAFFIC, SPECULATION, PRICES, GOALS = "Workload", "Speculation", "Prices", "Goals"


def _rental(known: Known) -> Default:
    rental = known.machine.gpu_hour
    if rental is None:
        return UNSET
    return Default(exact(str(rental.usd_per_gpu_hour)), rental.tier, f"{rental.basis}, {rental.date or 'undated'}: {rental.source}")


def _list_price(name: str):
    @cache
    def listed(slug: str) -> Default:
        rows = catalog.prices(slug)
        value = getattr(rows[0], name) if rows else None
        if value is None:
            return UNSET
        return Default(exact(str(value)), rows[0].tier, f"{rows[0].provider}, {rows[0].date or 'undated'}: {rows[0].source}")

    return lambda known: listed(known.preset.slug) if known.preset else UNSET


FIELDS = (
    Field("context", "Context", TOKENS, TRAFFIC, "Tokens one session holds.", constant(131_072, source="the context to answer for"), bounds=(1, 10**9)),
    Field("mix", "Mix of lengths", MIX, TRAFFIC, "length:count pairs such as 32K:1,128K:1; overrides context.", UNSET),
    Field("batch", "Batch", COUNT, TRAFFIC, "Sessions that advance together in one step.", constant(1, source="one session alone"), bounds=(1, 10**6)),
    Field("max_batch", "Largest batch", COUNT, TRAFFIC, "Sessions an engine advances together at the most.", constant(512, source="reproduces the first seed's printed costs"), bounds=(1, 10**6)),
    Field("bandwidth_share", "Bandwidth reached", SHARE, TRAFFIC, "Share of the memory bandwidth a decode step reaches.",
          constant(Fraction(8, 10), why="the first seed's 80%; no measurement of yours", source="first seed"), bounds=(Fraction(1, 100), 1)),
    Field("verify_tokens", "Verify block", COUNT, SPECULATION, "Tokens a speculative step verifies per session.", constant(8, source="the first seed's block"), bounds=(1, 1024)),
    Field("acceptance", "Tokens per cycle", NUMBER, SPECULATION, "Tokens advanced per verify cycle, bonus included.", UNSET, bounds=(1, 1024)),
    Field("acceptance_is", "That figure is", CHOICE, SPECULATION, "Measured on your traffic, or assumed.", constant("assumed", why="no measurement was named"), choices=lambda known: (("measured", "measured"), ("assumed", "assumed"))),
    Field("gpu_hour", "Rent per GPU hour", USD, PRICES, "USD per GPU and hour.", _rental, bounds=(0, 10**4)),
    Field("input_price", "Input price", USD, PRICES, "USD per million fresh input tokens.", _list_price("input"), bounds=(0, 10**5)),
    Field("cached_price", "Cached price", USD, PRICES, "USD per million cached input tokens.", _list_price("cached"), bounds=(0, 10**5)),
    Field("output_price", "Output price", USD, PRICES, "USD per million output tokens.", _list_price("output"), bounds=(0, 10**5)),
    Field("sessions_wanted", "Sessions wanted", COUNT, GOALS, "How many sessions must fit; gives the smallest machine count.", UNSET, bounds=(1, 10**7)),
    Field("speed_wanted", "Speed wanted", SPEED, GOALS, "Tokens per second each user must see; gives the smallest machine count.", UNSET, bounds=(Fraction(1, 1000), 10**5)),
)  # fmt: skip
