"""What a published benchmark says once it is taken apart: hits, fresh input, output, turn time, money."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Workload:
    """One conversation of `turns`: a first prompt, then `new_tokens` of input each turn, `output_tokens` generated.

    Every turn resends the conversation so far, answers included. With `cached` the engine finds it in its prefix
    cache and prefills only what is new; without, it prefills everything again. All in tokens. Source: first seed.
    """

    turns: int
    first_turn: int
    new_tokens: int
    output_tokens: int
    cached: bool = True

    @property
    def input_tokens(self) -> int:
        """Input of all turns, the resent part counted each time."""
        grows = self.new_tokens + self.output_tokens
        return self.turns * self.first_turn + grows * self.turns * (self.turns - 1) // 2

    @property
    def new_input(self) -> int:
        """Input that no earlier turn has sent: the first prompt and what each later turn adds."""
        return self.first_turn + (self.turns - 1) * self.new_tokens

    @property
    def fresh(self) -> int:
        """Input the engine prefills."""
        return self.new_input if self.cached else self.input_tokens

    @property
    def hits(self) -> int:
        """Input the engine finds in its prefix cache."""
        return self.input_tokens - self.fresh

    @property
    def output(self) -> int:
        """Tokens generated in all turns."""
        return self.turns * self.output_tokens

    @property
    def total(self) -> int:
        """What a headline of total tokens counts."""
        return self.input_tokens + self.output

    @property
    def longest(self) -> int:
        """Tokens the conversation holds at its end."""
        return self.first_turn + (self.turns - 1) * (self.new_tokens + self.output_tokens) + self.output_tokens


@dataclass(frozen=True)
class Load:
    """A workload under load: `total_per_gpu` tokens/s of every kind on each of `gpus`, `sessions` in flight in all."""

    workload: Workload
    total_per_gpu: Fraction
    gpus: int
    sessions: int

    @property
    def conversations_per_gpu_second(self) -> Fraction:
        """Conversations one GPU completes per second."""
        return self.total_per_gpu / self.workload.total

    @property
    def turns_per_second(self) -> Fraction:
        """Turns all GPUs complete per second."""
        return self.conversations_per_gpu_second * self.workload.turns * self.gpus

    @property
    def turn_seconds(self) -> Fraction:
        """Seconds between two turns of one conversation in steady state, by Little's law: sessions / turns per second."""
        return self.sessions / self.turns_per_second


@dataclass(frozen=True)
class Bill:
    """USD of one conversation by what is billed."""

    cached: Fraction
    fresh: Fraction
    output: Fraction

    @property
    def total(self) -> Fraction:
        """USD in all."""
        return self.cached + self.fresh + self.output


def bill(workload: Workload, input_price: Fraction, cached_price: Fraction, output_price: Fraction) -> Bill:
    """Bill one conversation at prices in USD per million tokens. Source: first seed."""
    return Bill(*(tokens * Fraction(price) / 10**6 for tokens, price in (
        (workload.hits, cached_price), (workload.fresh, input_price), (workload.output, output_price)
    )))  # fmt: skip


def margin(gpu_hour: Fraction, conversations_per_gpu_hour: Fraction, revenue: Fraction) -> Fraction:
    """Share of the revenue the rental leaves: 1 − rent / (conversations per GPU hour × revenue each). Source: first seed."""
    return 1 - gpu_hour / (conversations_per_gpu_hour * revenue)
