"""Encryption at rest."""

import base64
import stat
from pathlib import Path

import pytest

from clarion.errors import SettingsError
from clarion.vault import Vault, open_vault, sealing_key_id

OLD = f"old:{base64.b64encode(b'o' * 32).decode()}"
NEW = f"new:{base64.b64encode(b'n' * 32).decode()}"


def test_an_envelope_opens_only_with_its_own_context() -> None:
    vault = Vault.parse(OLD)
    envelope = vault.seal("secret", context=b"row 1")

    assert "secret" not in envelope
    assert vault.open(envelope, context=b"row 1") == "secret"
    with pytest.raises(SettingsError):
        vault.open(envelope, context=b"row 2")


def test_the_first_key_encrypts_and_all_keys_decrypt() -> None:
    envelope = Vault.parse(OLD).seal("secret", context=b"")
    both = Vault.parse(f"{NEW},{OLD}")

    assert both.open(envelope, context=b"") == "secret"
    assert sealing_key_id(both.seal("x", context=b"")) == "new"


def test_a_missing_key_is_named() -> None:
    envelope = Vault.parse(OLD).seal("secret", context=b"")

    with pytest.raises(SettingsError, match="'old'"):
        Vault.parse(NEW).open(envelope, context=b"")


@pytest.mark.parametrize(
    "text", ["", "nokey", "id:notbase64!", f"id:{base64.b64encode(b'short').decode()}", "a b:AAAA"]
)
def test_malformed_keys_are_refused(text: str) -> None:
    with pytest.raises(SettingsError, match="CLARION_ENCRYPTION_KEYS"):
        Vault.parse(text)


def test_a_key_is_generated_once_and_only_its_owner_can_read_it(tmp_path: Path) -> None:
    envelope = open_vault(None, tmp_path / "data").seal("secret", context=b"")
    path = tmp_path / "data" / "encryption.keys"

    assert open_vault(None, tmp_path / "data").open(envelope, context=b"") == "secret"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
