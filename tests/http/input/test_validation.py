"""Typed input: all problems are reported, with messages that say what is expected."""

from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, Meta, UnsetType

from clarion.errors import Invalid, Malformed
from clarion.http.input.unknown import Contract
from clarion.http.input.validation import make_body_reader
from clarion.http.wire import EmailText, Locale, SubscriberKeyText, Timezone, Wire
from clarion.vocabulary import Channel


class Person(Wire):
    name: Annotated[str, Meta(max_length=5)]
    email: EmailText | UnsetType | None = UNSET
    zone: Timezone | None = None
    channel: Channel = Channel.EMAIL
    friends: Annotated[list["Person"], Meta(max_length=2)] | UnsetType = UNSET
    data: dict[str, Any] | UnsetType | None = UNSET


_read = make_body_reader(Person, Contract.PUBLISHED)


def read(content: bytes) -> Person:
    return _read(content, [])


def problems(content: bytes) -> dict[str, str]:
    with pytest.raises(Invalid) as refusal:
        read(content)
    return {path: found[0].message for path, found in refusal.value.problems.items()}


def test_all_problems_are_reported_at_any_depth() -> None:
    found = problems(
        b'{"name": 5, "email": "nobody", "zone": "Mars/Base", "channel": "pigeon", '
        b'"friends": [{"name": "ok"}, {"email": 7}]}'
    )

    assert found == {
        "name": "must be a string, not a whole number",
        "email": "must be an e-mail address such as ada@example.com",
        "zone": "must be an IANA time zone such as Europe/Athens",
        "channel": "must be one of in_app, email, sms, chat, push, tool",
        "friends.1.name": "is required",
        "friends.1.email": "must be an e-mail address such as ada@example.com",
    }


def test_a_body_with_many_problems_gets_the_first_hundred() -> None:
    friends = b",".join(b'{"name": %d}' % number for number in range(5_000))

    found = problems(b'{"name": "a", "friends": [%s]}' % friends)

    assert list(found) == [f"friends.{number}.name" for number in range(100)]


def test_limits_and_types_are_named() -> None:
    assert problems(b'{"name": "too long"}') == {"name": "must be a string of length <= 5"}
    assert problems(b'{"name": "a", "data": []}') == {"data": "must be an object or null, not an array"}
    assert "friends" in problems(b'{"name": "a", "friends": [{"name":"a"},{"name":"a"},{"name":"a"}]}')
    assert problems(b"[]") == {"body": "must be an object, not an array"}


def test_unknown_members_are_ignored_and_null_differs_from_absent() -> None:
    person = read(b'{"name": "a", "email": null, "whatever": {"deep": [1]}}')

    assert person.email is None
    assert person.data is UNSET


@pytest.mark.parametrize("content", [b"{", b"", b"\xff\xfe", b'{"name": "\xff"}', b"{'name': 1}", b'{"name": "a"} x'])
def test_a_body_that_is_not_json_is_malformed(content: bytes) -> None:
    with pytest.raises(Malformed, match="not valid JSON"):
        read(content)


def test_the_character_that_postgresql_cannot_store_is_refused() -> None:
    assert problems(b'{"name": "a\\u0000"}') == {"name": "must not contain the character U+0000"}
    assert problems(b'{"name": "a", "data": {"x": ["\\u0000"]}}') == {
        "data.x.0": "must not contain the character U+0000"
    }
    assert read(b'{"name": "\\\\u00"}').name == "\\u00"


def test_numbers_beyond_64_bits_are_refused() -> None:
    assert "body" in problems(b'{"name": "a", "data": {"n": 1' + b"0" * 5000 + b"}}")


@given(st.binary(max_size=60))
def test_any_bytes_are_accepted_malformed_or_invalid(content: bytes) -> None:
    try:
        read(content)
    except (Invalid, Malformed):
        return


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        (EmailText, ["ada@example.com", "a+b@sub.example.co.uk", "ada@test"], ["ada", "a@", "@b", "a b@c.de", ""]),
        (Timezone, ["Europe/Athens", "UTC", "America/Argentina/Ushuaia"], ["Europe", "GMT+25", "", "../etc/passwd"]),
        (Locale, ["en", "en-US", "en_US", "zh-Hant-TW", "de-CH-1996", "es-419"], ["", "e", "english!", "en-", "12"]),
        (SubscriberKeyText, ["ada", "a:b.c-d@e", "日本", "a b"], ["", " a", "a ", "a\nb", "x" * 256]),
    ],
)
def test_checked_texts_accept_and_refuse(kind: Any, good: list[str], bad: list[str]) -> None:
    assert [text for text in good if not kind.accepts(text)] == []
    assert [text for text in bad if kind.accepts(text)] == []
