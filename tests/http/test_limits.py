"""The limits of bodies: nesting and the number of values."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clarion.errors import Malformed, TooLarge
from clarion.http.limits import MAX_NESTING, MAX_VALUES, check_nesting


def nested(depth: int) -> bytes:
    return b'{"a":[' * (depth // 2) + b"1" + b"]}" * (depth // 2)


def test_bodies_up_to_the_limit_pass() -> None:
    check_nesting(nested(MAX_NESTING))
    check_nesting(b"[" + b",".join([b"[[1],{}]"] * 1000) + b"]")


@pytest.mark.parametrize("body", [nested(MAX_NESTING + 2), b"[" * 100_000, b"{" * 65 + b"}" * 65, b"[" * 80 + b'"]"'])
def test_bodies_beyond_the_limit_are_refused(body: bytes) -> None:
    with pytest.raises(Malformed, match="nested deeper than 64"):
        check_nesting(body)


def test_brackets_inside_strings_do_not_count() -> None:
    check_nesting(b'{"a":"' + b"[" * 1000 + b'\\"' + b"{" * 1000 + b'"}')


def test_a_string_across_pieces_of_the_check_does_not_count() -> None:
    check_nesting(b'["' + b"[" * 500_000 + b'\\\\",' + b'"\\\\\\"' + b"{" * 500_000 + b'"]')


def test_depth_is_counted_across_pieces_of_the_check() -> None:
    gap = b'"' + b"x" * 100_000 + b'",'
    check_nesting((b"[" + gap) * 64)
    with pytest.raises(Malformed):
        check_nesting((b"[" + gap) * 65)


def test_an_unterminated_string_is_read_once() -> None:
    # Each quotation mark was tried as the start of a string, which took minutes for this body.
    with pytest.raises(Malformed):
        check_nesting(b"[" * 65 + b'"\\' * 5_000_000)


def test_the_number_of_values_is_limited() -> None:
    check_nesting(b"[" + b"1," * (MAX_VALUES - 2) + b"1]")
    for body in (b"[" + b"1," * MAX_VALUES + b"1]", b"[" + b"[]," * MAX_VALUES + b"1]"):
        with pytest.raises(TooLarge, match="1000000 values"):
            check_nesting(body)


def test_commas_inside_strings_are_no_values() -> None:
    check_nesting(b'["' + b"," * 3 * MAX_VALUES + b'"]')


@given(st.integers(1, 200))
def test_the_limit_is_exact(depth: int) -> None:
    body = b"[" * depth + b"]" * depth
    if depth <= MAX_NESTING:
        check_nesting(body)
    else:
        with pytest.raises(Malformed):
            check_nesting(body)


_TEXTS = st.text(alphabet='[]{}",\\ab', max_size=12)
_VALUES = st.recursive(
    _TEXTS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_TEXTS, inner, max_size=4), max_leaves=30
)


def depth_of(value: object) -> int:
    if isinstance(value, dict):
        return 1 + max(map(depth_of, value.values()), default=0)
    return 1 + max(map(depth_of, value), default=0) if isinstance(value, list) else 0


@given(_VALUES, st.integers(1, MAX_NESTING + 2), st.integers(1, 50))
def test_the_depth_is_that_of_a_parser(value: object, around: int, piece: int) -> None:
    body = b"[" * around + json.dumps([value] * 20).encode() + b"]" * around
    is_too_deep = around + depth_of([value]) > MAX_NESTING
    if is_too_deep:
        with pytest.raises(Malformed):
            check_nesting(body, piece=piece)
    else:
        check_nesting(body, piece=piece)
