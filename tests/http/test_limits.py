"""The nesting limit of bodies."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clarion.errors import Malformed
from clarion.http.limits import MAX_NESTING, check_nesting


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


@given(st.integers(1, 200))
def test_the_limit_is_exact(depth: int) -> None:
    body = b"[" * depth + b"]" * depth
    if depth <= MAX_NESTING:
        check_nesting(body)
    else:
        with pytest.raises(Malformed):
            check_nesting(body)
