"""Quantities as people type and read them."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envelope import units


class TestReading:
    @pytest.mark.parametrize(
        ("typed", "tokens"),
        [("131072", 131_072), ("128K", 131_072), ("128k", 131_072), ("1M", 1_048_576), ("1.5M", 1_572_864), ("131,072 tokens", 131_072)],
    )
    def test_tokens_count_in_binary(self, typed, tokens):
        assert units.tokens(typed) == tokens

    @pytest.mark.parametrize(
        ("typed", "size"),
        [("262.5 GB", 262_500_000_000), ("79.6 GiB", Fraction(796, 10) * 2**30), ("2.1 TB", 2_100_000_000_000), ("512", 512)],
    )
    def test_bytes_name_their_base(self, typed, size):
        assert units.size(typed) == size

    @pytest.mark.parametrize(("typed", "size"), [("262,500,000,000", 262_500_000_000), ("1_000.5 GB", 1_000_500_000_000), ("1\u202f000", 1000)])
    def test_separators_part_thousands(self, typed, size):
        assert units.size(typed) == size

    @pytest.mark.parametrize("typed", ["262,5 GB", "1,2,3", "12,34", "1__000", "1,0000", "0.125,000"])
    def test_a_decimal_comma_is_refused_not_read_ten_times_too_large(self, typed):
        with pytest.raises(ValueError, match="accepts"):
            units.size(typed)

    def test_shares_read_as_percent_or_fraction(self):
        assert units.share("85%") == units.share("0.85") == Fraction(85, 100)

    def test_rates_read_with_and_without_per_second(self):
        assert units.rate("8 TB/s") == units.rate("8TB") == 8 * 10**12

    def test_times_read_with_their_unit(self):
        assert units.seconds("30 ms") == Fraction(3, 100)

    @pytest.mark.parametrize("typed", ["", "abc", "12Q", "--3", "1e999", "nan", "inf", "0x10", "1/2", "९", "1" * 60])
    def test_anything_else_is_refused_in_words(self, typed):
        with pytest.raises(ValueError, match="accepts"):
            units.tokens(typed)

    def test_a_fraction_of_a_token_is_refused(self):
        with pytest.raises(ValueError, match="must be whole"):
            units.tokens("0.5")

    @given(st.text(max_size=40))
    def test_no_text_raises_anything_but_a_value_error(self, typed):
        for read in (units.tokens, units.count, units.size, units.rate, units.share, units.real, units.seconds):
            try:
                read(typed)
            except ValueError as error:
                assert str(error)


class TestWriting:
    @pytest.mark.parametrize(
        ("value", "unit", "written"),
        [
            (54_136_930_304, "bytes", "54.1 GB"),
            (1_357_311_826_688, "bytes", "1.36 TB"),
            (32_768, "bytes", "32.8 kB"),
            (890, "bytes", "890 B"),
            (999_600_000, "bytes", "1.00 GB"),
            (131_072, "tokens", "128K tokens"),
            (1_048_576, "tokens", "1M tokens"),
            (169_072.0, "tokens", "169,072 tokens"),
            (72.525, "tokens", "72.5 tokens"),
            (412.995, "seconds", "6.88 min"),
            (0.0329, "seconds", "32.9 ms"),
            (1.8298, "USD", "$1.83"),
            (0.0242, "USD", "$0.024"),
            (Fraction(115, 627), "share", "18.3%"),
            (258, "sessions", "258 sessions"),
            (7848.4, "tokens/s", "7.85K tok/s"),
            (30.42, "tokens/s", "30.4 tok/s"),
            (822_005_480_576, "parameters", "822 B"),
            (Fraction(5, 64), "ratio", "0.078125"),
        ],
    )
    def test_as_people_write(self, value, unit, written):
        assert units.text(value, unit) == written

    def test_rounding_up_a_digit_keeps_the_digits(self):
        assert units.significant(9.996) == "10.0"
        assert units.significant(0.0009996) == "0.00100"

    @given(st.floats(1e-9, 1e18))
    def test_never_in_scientific_notation(self, value):
        assert "e" not in units.significant(value)

    @given(st.integers(1, 10**12))
    def test_whole_tokens_read_back_as_written(self, value):
        assert units.tokens(units.token_text(value)) == value

    @pytest.mark.parametrize(("number", "things", "written"), [(1, "GPUs", "1 GPU"), (8, "GPUs", "8 GPUs"), (0, "sessions", "0 sessions"), (1304, "sessions", "1,304 sessions")])
    def test_counts_with_their_plural(self, number, things, written):
        assert units.counted(number, things) == units.text(number, things) == written
