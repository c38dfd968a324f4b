"""Secrets: they are printed only on purpose."""

import pickle
from typing import ClassVar

import pytest

from clarion.secret import PartlyPrinted, Secret


def test_a_secret_is_shown_by_reveal_alone() -> None:
    secret = Secret("canary")

    assert (repr(secret), str(secret), f"{[secret]}") == ("***", "***", "[***]")
    assert secret.reveal() == "canary"
    with pytest.raises(TypeError, match="reveal"):
        f"Bearer {secret}"
    with pytest.raises(TypeError, match="not copied"):
        pickle.dumps(secret)


def test_secrets_are_equal_by_their_text_and_false_when_empty() -> None:
    secret = Secret("canary")

    assert (secret, bool(Secret("")), hash(secret)) == (Secret("canary"), False, hash(Secret("canary")))


def test_a_partly_printed_record_shows_the_named_fields_alone() -> None:
    class Visit(PartlyPrinted, frozen=True, kw_only=True):
        PRINTED: ClassVar = ("number", "place")
        number: int
        place: str
        token: str

    visit = Visit(number=1, place="home", token="canary")

    assert repr(visit) == "Visit(number=1, place='home')"
    assert visit.__rich_repr__() == [("number", 1), ("place", "home")]
