"""The feed's `payload` parameter."""

import base64

import pytest

from clarion.errors import Malformed
from clarion.messages.feed import read_pattern


def encode(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


@pytest.mark.parametrize("given", [None, ""])
def test_nothing_given_is_no_pattern(given: str | None) -> None:
    assert read_pattern(given) is None


def test_an_object_is_read_from_either_alphabet_padded_or_not() -> None:
    pattern = '{"a":"~~~???>>>"}'
    standard = encode(pattern)
    assert "+" in standard or "/" in standard
    url_safe = standard.replace("+", "-").replace("/", "_")

    assert {read_pattern(one) for one in (standard, url_safe, standard.rstrip("="), url_safe.rstrip("="))} == {pattern}


def test_a_plus_that_came_through_a_query_string_as_a_space_is_understood() -> None:
    standard = encode('{"a":"~~~>>>"}')

    assert read_pattern(standard.replace("+", " ")) == '{"a":"~~~>>>"}'


@pytest.mark.parametrize(
    "given",
    [
        "%%%",
        "e",
        "ä",
        encode("{"),
        encode("[1]"),
        encode('"text"'),
        encode("1e999"),
        encode('{"a": "\\u0000"}'),
        encode('{"a": "\\ud800"}'),
        encode('{"a":' * 100_000),
        base64.b64encode(b'{"a": "\xff"}').decode(),
    ],
)
def test_what_is_not_an_object_in_base64_is_malformed(given: str) -> None:
    with pytest.raises(Malformed):
        read_pattern(given)


def test_a_text_that_only_looks_like_an_escape_is_kept() -> None:
    assert read_pattern(encode('{"a":"\\\\u0000"}')) == '{"a":"\\\\u0000"}'
