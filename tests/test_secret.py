"""Secrets: they are printed only on purpose."""

import pickle

import pytest

from clarion.secret import Secret


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
