"""Timestamps as text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clarion.clock import Millis, find_moment, iso_text


@given(st.integers(min_value=0, max_value=253_402_300_799_999))
def test_a_timestamp_is_parsed_from_its_text(value: int) -> None:
    assert find_moment(iso_text(Millis(value))) == value


def test_timestamps_are_formatted_in_utc_with_milliseconds() -> None:
    assert iso_text(Millis(1_767_225_600_007)) == "2026-01-01T00:00:00.007Z"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-01-01", 1_767_225_600_000),
        ("2026-01-01T00:00:00", 1_767_225_600_000),
        ("2026-01-01T02:00:00+02:00", 1_767_225_600_000),
        ("yesterday", None),
        ("", None),
        ("0001-01-01T00:00:00+23:59", -62_135_683_140_000),
    ],
)
def test_texts_are_parsed_leniently_or_refused(text: str, expected: int | None) -> None:
    assert find_moment(text) == expected
