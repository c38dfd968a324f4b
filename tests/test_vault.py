"""Encryption at rest."""

import base64
import stat
from pathlib import Path

import pytest

from clarion.errors import SettingsError
from clarion.vault import Envelope, Vault, open_vault, sealing_key_id

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


def test_generated_keys_have_ids_of_their_own(tmp_path: Path) -> None:
    (one,), (other,) = [open_vault(None, tmp_path / name).key_ids for name in ("one", "other")]

    assert one != other
    assert open_vault(None, tmp_path / "one").key_ids == {one}


def test_a_key_file_that_others_can_read_is_taken_from_them(tmp_path: Path) -> None:
    path = tmp_path / "encryption.keys"
    path.write_text(OLD)
    path.chmod(0o644)

    assert open_vault(None, tmp_path).key_ids == {"old"}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_vault_recognises_envelopes_of_another_key_with_the_same_id() -> None:
    envelope = Envelope(Vault.parse(OLD).seal("secret", context=b"row"), b"row")

    assert Vault.parse(f"{NEW},{OLD}").can_open(envelope)
    assert not Vault.parse(NEW).can_open(envelope)
    assert not Vault.parse(f"old:{NEW.removeprefix('new:')}").can_open(envelope)


def test_a_key_file_is_put_into_folders_that_exist_and_into_those_that_do_not(tmp_path: Path) -> None:
    open_vault(None, tmp_path)
    open_vault(None, tmp_path / "new" / "data")

    assert (tmp_path / "encryption.keys").exists()
    assert (tmp_path / "new" / "data" / "encryption.keys").exists()


def test_configured_keys_are_used_and_no_file_is_written(tmp_path: Path) -> None:
    vault = open_vault(f"{NEW},{OLD}", tmp_path)

    assert vault.key_ids == {"new", "old"}
    assert vault.open(Vault.parse(OLD).seal("secret", context=b""), context=b"") == "secret"
    assert list(tmp_path.iterdir()) == []


def test_a_key_with_characters_that_are_not_base64_is_refused() -> None:
    encoded = OLD.removeprefix("old:")

    with pytest.raises(SettingsError, match="entry 2 of 2"):
        Vault.parse(f"{NEW},old:{encoded[:8]}*{encoded[8:]}")


@pytest.mark.parametrize("text", [OLD.removeprefix("old:"), f"{OLD.removeprefix('old:')}:old", "x" * 32 + "secret"])
def test_the_message_about_a_malformed_key_shows_nothing_of_it(text: str) -> None:
    with pytest.raises(SettingsError) as raised:
        Vault.parse(text)

    assert text[:6] not in str(raised.value)


def test_two_keys_with_the_same_id_are_refused() -> None:
    with pytest.raises(SettingsError, match="has the id of entry 2 twice"):
        Vault.parse(f"{OLD},old:{NEW.removeprefix('new:')}")


def test_each_key_gives_a_token_for_a_context_and_the_first_is_given_out() -> None:
    (old,) = Vault.parse(OLD).tokens(context=b"a")
    new, also_old = Vault.parse(f"{NEW},{OLD}").tokens(context=b"a")

    assert also_old == old
    assert len({old, new, *Vault.parse(OLD).tokens(context=b"b")}) == 3
    assert (len(old), set("=+/") & set(old + new)) == (22, set())


def test_keys_for_signatures_depend_on_the_key_and_on_their_purpose_alone() -> None:
    both, old = Vault.parse(f"{NEW},{OLD}"), Vault.parse(OLD)

    found = both.signing_keys(purpose=b"sessions")

    assert list(found) == ["new", "old"]
    assert found["old"] == old.signing_keys(purpose=b"sessions")["old"] != found["new"]
    assert old.signing_keys(purpose=b"others")["old"] != found["old"]
    assert {len(one) for one in found.values()} == {32}
    assert b"o" * 32 not in found.values()


def test_tokens_are_one_for_each_key_and_differ_by_context() -> None:
    both = Vault.parse(f"{NEW},{OLD}")

    first, second = both.tokens(context=b"row 1")

    assert Vault.parse(OLD).tokens(context=b"row 1") == [second]
    assert first != second
    assert set(both.tokens(context=b"row 2")).isdisjoint({first, second})
    assert {len(one) for one in (first, second)} == {22}
