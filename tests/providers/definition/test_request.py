"""Requests: additions of triggers, and encoding."""

from typing import Any

import pytest

from clarion.clock import Millis
from clarion.providers.definition.overrides import deep_merge, pascal, snake
from clarion.providers.definition.request import (
    File,
    ProviderRequest,
    basic,
    bearer,
    drop_empty,
    encode_call,
    key_header,
    to_single_line,
)
from clarion.providers.definition.result import ProviderAnswer, values_at
from clarion.secret import Secret


def make_answer(text: str = "", **fields: Any) -> ProviderAnswer:
    base: dict[str, Any] = {"status": 200, "text": text, "headers": {}, "retry_after": None, "received_at": Millis(0)}
    return ProviderAnswer(**base | fields)


def test_objects_are_merged_and_lists_appended() -> None:
    merged = deep_merge({"a": {"b": 1, "c": [1]}, "d": 2}, {"a": {"c": [2], "e": 3}, "d": {"f": 4}})

    assert merged == {"a": {"b": 1, "c": [1, 2], "e": 3}, "d": {"f": 4}}


@pytest.mark.parametrize(
    ("casing", "name", "cased"),
    [(snake, "replyTo", "reply_to"), (snake, "thread_ts", "thread_ts"), (pascal, "statusCallback", "StatusCallback")],
)
def test_names_get_the_casing_of_the_provider(casing: Any, name: str, cased: str) -> None:
    assert casing(name) == cased


def test_authentication_overrides_headers_of_a_trigger() -> None:
    request = ProviderRequest.json("https://example.com", {"a": 1}, auth=bearer(Secret("token")))
    call = encode_call(request.merged(body={"b": 2}, headers={"authorization": "mine", "X-More": "a\r\nb"}, query={}))

    assert call.headers == {"Content-Type": "application/json", "X-More": "a b", "Authorization": "Bearer token"}
    assert call.content == b'{"a":1,"b":2}'


def test_a_query_is_appended_to_an_existing_one() -> None:
    request = ProviderRequest.get("https://example.com/?a=1", {"b": "x y+z", "c": ["1", "2"]})

    assert encode_call(request).url == "https://example.com/?a=1&b=x%20y%2Bz&c=1&c=2"


def test_a_form_repeats_the_fields_of_a_list() -> None:
    call = encode_call(ProviderRequest.form("https://example.com", {"to": ["a", "b"], "text": "ü &"}))

    assert call.content == b"to=a&to=b&text=%C3%BC%20%26"


def test_a_file_name_cannot_inject_headers() -> None:
    file = File(part="file", name='a"\r\nX-Evil: 1', type="text/plain\r\nX-Evil: 1", content=b"--x")
    call = encode_call(ProviderRequest.multipart("https://example.com", {"name": "v"}, files=[file]))

    assert b"\r\nX-Evil" not in call.content
    assert b'filename="a%22 X-Evil: 1"' in call.content


def test_the_same_message_has_the_same_bytes() -> None:
    request = ProviderRequest.multipart("https://example.com", {"a": "1"})

    assert encode_call(request) == encode_call(request)


def test_authentication_headers() -> None:
    assert basic("user", Secret("pass")) == {"Authorization": "Basic dXNlcjpwYXNz"}
    assert key_header("Authorization", Secret("k"), scheme="App") == {"Authorization": "App k"}
    assert key_header("api-key", Secret("k")) == {"api-key": "k"}


def test_empty_fields_are_dropped() -> None:
    assert drop_empty({"a": "", "b": None, "c": [], "d": 0, "e": False, "f": {}}) == {"d": 0, "e": False}


@pytest.mark.parametrize(
    ("path", "found"),
    [("a.b", [1]), ("c.0.d", [2]), ("c.*.d", [2, 3]), ("c.9.d", []), ("a.b.c", []), ("x", []), ("e", [])],
)
def test_values_are_found_by_path(path: str, found: list[Any]) -> None:
    assert list(values_at({"a": {"b": 1}, "c": [{"d": 2}, {"d": 3}], "e": None}, path)) == found


def test_an_answer_that_is_not_json_has_no_values() -> None:
    assert make_answer("<html>").values("a") == []
    assert make_answer("[" * 100_000).value("0") is None


def test_authentication_headers_are_removed_from_answers() -> None:
    call = encode_call(ProviderRequest.get("https://example.com", auth=bearer(Secret("canary-token"))))

    assert call.without_secrets(b"you sent canary-token and Bearer canary-token") == "you sent *** and ***"
    assert "canary" not in repr(call)


def test_a_signature_replaces_a_header_of_a_trigger() -> None:
    call = encode_call(
        ProviderRequest.get("https://example.com").merged(body={}, headers={"x-signature": "forged"}, query={})
    )

    assert call.with_auth({"X-Signature": "ours"}).headers == {"X-Signature": "ours"}


def test_line_breaks_become_a_space() -> None:
    assert to_single_line(" a\r\nBcc: b\x00c\u2028d\x85e\x7f ") == "a Bcc: b c d e"
