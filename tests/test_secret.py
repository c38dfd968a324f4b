"""Secrets: they are printed only on purpose."""

import pytest

from clarion.providers.secret import Secret


def test_a_secret_shows_itself_to_nobody_who_does_not_ask() -> None:
    secret = Secret(" canary\n")

    assert (repr(secret), str(secret), f"{[secret]}") == ("***", "***", "[***]")
    assert secret.reveal() == "canary"
    assert (secret, bool(Secret(" ")), hash(secret)) == (Secret("canary"), False, hash(Secret("canary")))
    with pytest.raises(TypeError, match="reveal"):
        f"Bearer {secret}"
