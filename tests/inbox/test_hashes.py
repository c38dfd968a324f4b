"""Hashes of subscribers and contexts: what they are made of, and what is accepted."""

import hashlib
import hmac
import re
import textwrap
from pathlib import Path
from typing import Any

import pytest

from clarion.inbox.sessions.hashes import is_hash_of, list_context_forms, list_context_texts, list_subscriber_forms

KEYS = ["ck_one", "ck_two"]


def sign(content: bytes, key: str = "ck_one") -> str:
    return hmac.new(key.encode(), content, hashlib.sha256).hexdigest()


@pytest.mark.parametrize("key", KEYS)
def test_a_hash_under_any_of_the_keys_is_accepted(key: str) -> None:
    assert is_hash_of(sign(b"ada", key), [b"ada"], KEYS)


@pytest.mark.parametrize(
    "given",
    [None, "", "é", "0" * 64, sign(b"bob"), sign(b"ada", "ck_three"), sign(b"ada")[:-1], sign(b"ada").upper(), "ada"],
)
def test_other_hashes_are_refused(given: str | None) -> None:
    assert not is_hash_of(given, [b"ada"], KEYS)


def test_without_keys_no_hash_is_right() -> None:
    assert not is_hash_of(sign(b"ada", ""), [b"ada"], [])


@pytest.mark.parametrize(
    ("context", "forms"),
    [
        ({"tenant": "acme"}, [b'{"tenant":"acme"}']),
        (
            {"tenant": {"id": "acme", "data": {"plan": "pro", "area": 1.0}}, "app": "jira"},
            [b'{"app":"jira","tenant":{"data":{"area":1,"plan":"pro"},"id":"acme"}}'],
        ),
        (
            {"a": {"id": "x", "data": {"text": 'say "hi"\\\n', "list": [None, True, 0.5, "é"]}}},
            [
                '{"a":{"data":{"list":[null,true,0.5,"é"],"text":"say \\"hi\\"\\\\\n"},"id":"x"}}'.encode(),
                '{"a":{"data":{"list":[null,true,0.5,"é"],"text":"say \\"hi\\"\\\\\\n"},"id":"x"}}'.encode(),
            ],
        ),
    ],
)
def test_a_context_is_signed_as_json_with_sorted_members(context: dict[str, Any], forms: list[bytes]) -> None:
    assert list_context_texts(context) == forms
    assert list_context_forms(context) == [b"context\n" + one for one in forms]


@pytest.mark.parametrize(
    ("key", "forms"),
    [
        ("ada", [b"subscriber\nada", b"ada"]),
        ("[1]", [b"subscriber\n[1]", b"[1]"]),
        ('{"tenant":"acme"}', [b'subscriber\n{"tenant":"acme"}']),
    ],
)
def test_a_subscriber_whose_id_could_be_a_context_is_signed_as_a_subscriber(key: str, forms: list[bytes]) -> None:
    assert list_subscriber_forms(key) == forms


def test_members_are_sorted_as_javascript_sorts_them() -> None:
    assert list_context_texts({"\uff5e": "a", "\U0001f600": "b"}) == ['{"😀":"b","～":"a"}'.encode()]


def test_the_lines_of_the_guide_make_hashes_that_are_accepted() -> None:
    page = (Path(__file__).parents[2] / "docs" / "inbox-security.md").read_text()
    lines = "\n".join(textwrap.dedent(one) for one in re.findall(r"```python\n(.*?)```", page, re.DOTALL))
    names: dict[str, Any] = {
        "api_key": "ck_two",
        "subscriber_id": "adä",
        "context": {"tenant": {"id": "acme", "data": {"z": [1, 0.5], "name": 'Ä "x"\n'}}, "app": "jira"},
    }

    exec(lines, names)

    assert is_hash_of(names["subscriber_hash"], list_subscriber_forms("adä"), KEYS)
    assert is_hash_of(names["context_hash"], list_context_forms(names["context"]), KEYS)
