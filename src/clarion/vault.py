"""Encryption at rest: AES-GCM envelopes that name the key they were sealed with.

An envelope is `v1.<key id>.<base64 of nonce and ciphertext>`. The first key encrypts, all keys
decrypt. To rotate keys, put a new one in front and seal everything again (`clarion encryption rotate`).
"""

import base64
import binascii
import hmac
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Self

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from msgspec import Struct

from clarion.errors import SettingsError, StoreUnavailable
from clarion.ids import random_bytes
from clarion.private_files import make_private_file, make_private_folder, tighten_file
from clarion.settings.model import Settings

_KEY_ID = re.compile(r"[A-Za-z0-9_-]{1,32}")
_KEYS_START = re.compile(r"\s*[A-Za-z0-9_-]{1,32}:[A-Za-z0-9+/]{43}=")
_SETTING = "CLARION_ENCRYPTION_KEYS"
KEY_FILE = "encryption.keys"


class Envelope(Struct, frozen=True):
    """A sealed text of the store, and the ids of its owner."""

    text: str
    context: bytes


class Vault:
    """Seals and opens secrets; never prints its keys."""

    def __init__(self, keys: Mapping[str, bytes]) -> None:
        self._ciphers = {key_id: AESGCM(key) for key_id, key in keys.items()}
        self._keys = dict(keys)
        self._token_keys = [hmac.digest(key, b"tokens", "sha256") for key in keys.values()]
        self.writing_key_id = next(iter(keys))
        self.lacking_key_ids: set[str] = set()
        """Ids of keys that secrets of the store were sealed with, and that this vault was asked for in vain."""

    @classmethod
    def parse(cls, text: str, *, source: str = _SETTING) -> Self:
        """Parse `id:base64key[,id:base64key…]`; each key has 32 bytes. Errors name the `source` of the text."""
        entries = [entry.strip() for entry in text.split(",") if entry.strip()]
        if not entries:
            raise SettingsError(f"{source} is empty; give at least one 'id:base64 of 32 bytes'.")
        keys: dict[str, bytes] = {}
        for number, entry in enumerate(entries, 1):
            key_id, key = _parse_key(entry)
            # An error names the place of the entry alone, because any part of what is no key may be one.
            if key is None:
                raise SettingsError(
                    f"{source} must be 'id:base64 of 32 bytes', several separated by commas, with an id of your choice "
                    f"such as '2026-01'; entry {number} of {len(entries)} is not."
                )
            if key_id in keys:
                raise SettingsError(f"{source} has the id of entry {number} twice; give each key an id of its own.")
            keys[key_id] = key
        return cls(keys)

    @property
    def key_ids(self) -> frozenset[str]:
        return frozenset(self._ciphers)

    def can_open(self, envelope: Envelope) -> bool:
        """Return whether the key of an envelope is in this vault, and not only one with the same id."""
        try:
            self.open_foreign(envelope.text, context=envelope.context)
        except SettingsError:
            return False
        return True

    def seal(self, text: str, *, context: bytes) -> str:
        """Encrypt `text`; it can only be opened with the same `context`, the ids of its owner."""
        key_id, _, sealed = self.seal_bytes(text.encode(), context=context).partition(b".")
        return f"v1.{key_id.decode()}.{base64.b64encode(sealed).decode()}"

    def open(self, envelope: str, *, context: bytes) -> str:
        """Decrypt an envelope of the store."""
        return self.open_bytes(_compact(envelope), context=context).decode()

    def open_foreign(self, envelope: str, *, context: bytes) -> str:
        """Decrypt an envelope that a client sent, and may have made up."""
        return self._open(_compact(envelope), context=context).decode()

    def tokens(self, *, context: bytes) -> list[str]:
        """Tokens for a context that nobody else can compute, one for each key: give out the first, accept all."""
        digests = [hmac.digest(key, context, "sha256")[:16] for key in self._token_keys]
        return [base64.urlsafe_b64encode(one).rstrip(b"=").decode() for one in digests]

    def signing_keys(self, *, purpose: bytes) -> dict[str, bytes]:
        """Keys for signatures, derived from each key of the vault, by its id."""
        return {key_id: hmac.digest(key, b"signatures of " + purpose, "sha256") for key_id, key in self._keys.items()}

    def seal_bytes(self, content: bytes, *, context: bytes) -> bytes:
        """The compact form: key id, a dot, nonce and ciphertext."""
        nonce = random_bytes(12)
        sealed = self._ciphers[self.writing_key_id].encrypt(nonce, content, context)
        return b"%b.%b%b" % (self.writing_key_id.encode(), nonce, sealed)

    def open_bytes(self, envelope: bytes, *, context: bytes) -> bytes:
        """Decrypt an envelope of the store in the compact form."""
        key_id = envelope.partition(b".")[0].decode()
        if key_id not in self._ciphers:
            self.lacking_key_ids.add(key_id)
        return self._open(envelope, context=context)

    def _open(self, envelope: bytes, *, context: bytes) -> bytes:
        head, _, sealed = envelope.partition(b".")
        key_id = head.decode()
        if key_id not in self._ciphers:
            raise SettingsError(
                f"The store holds secrets sealed with key '{key_id}', which CLARION_ENCRYPTION_KEYS lacks."
            )
        try:
            return self._ciphers[key_id].decrypt(sealed[:12], sealed[12:], context)
        except InvalidTag:
            raise SettingsError(
                f"Key '{key_id}' of CLARION_ENCRYPTION_KEYS does not open what was sealed with it."
            ) from None


def _compact(envelope: str) -> bytes:
    _, key_id, encoded = envelope.split(".", 2)
    return key_id.encode() + b"." + base64.b64decode(encoded)


def sealing_key_id(envelope: str) -> str:
    """The id of the key that an envelope was sealed with."""
    return envelope.split(".", 2)[1]


def open_vault(encryption_keys: str | None, data_dir: Path) -> Vault:
    """A vault with the configured keys, or with those of a key file that is generated if there is none.

    That is for a store without secrets: another key than the one that sealed them is of no use.
    """
    if encryption_keys is None:
        path = data_dir / KEY_FILE
        try:
            make_private_folder(data_dir)
            make_private_file(path, _generate_key())
            tighten_file(path)
        except OSError as error:
            raise StoreUnavailable(
                f"The file of encryption keys {path} cannot be made: {error.strerror}. Give the folder to the user "
                "that runs this, choose another with CLARION_DATA_DIR, or set CLARION_ENCRYPTION_KEYS."
            ) from error
    return _open(encryption_keys, data_dir)


def open_configured_vault(settings: Settings) -> Vault:
    """A vault with the keys that there are; raises if there are none."""
    return _open(configured_keys(settings), settings.data_dir)


def has_keys(settings: Settings) -> bool:
    """Whether keys are configured, or in a file."""
    return settings.encryption_keys is not None or (settings.data_dir / KEY_FILE).exists()


def read_keys(settings: Settings) -> str:
    """The text of the keys that there are; raises if there are none."""
    return _read(configured_keys(settings), settings.data_dir)


def describe_keys(settings: Settings) -> str:
    """Where the keys are."""
    return _SETTING if settings.encryption_keys is not None else f"the file {settings.data_dir / KEY_FILE}"


def configured_keys(settings: Settings) -> str | None:
    return settings.encryption_keys.reveal() if settings.encryption_keys else None


def looks_like_keys(text: str) -> bool:
    """Whether a text begins as a file of keys does."""
    return _KEYS_START.match(text) is not None


def _open(encryption_keys: str | None, data_dir: Path) -> Vault:
    source = _SETTING if encryption_keys is not None else f"The file {data_dir / KEY_FILE}"
    return Vault.parse(_read(encryption_keys, data_dir), source=source)


def _read(encryption_keys: str | None, data_dir: Path) -> str:
    if encryption_keys is not None:
        return encryption_keys
    path = data_dir / KEY_FILE
    try:
        return path.read_text()
    except FileNotFoundError:
        raise SettingsError(
            f"There are no encryption keys: neither CLARION_ENCRYPTION_KEYS nor the file {path}. The first "
            "`clarion serve` makes them; those of a store that is in use come from its backup."
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        raise StoreUnavailable(
            f"The file of encryption keys {path} cannot be read: {reason}. "
            "Give it to the user that runs this, or restore it from a copy."
        ) from error


def _generate_key() -> bytes:
    """A line of a key file. The id is derived from the key, so that keys of different files have different ids."""
    key = os.urandom(32)
    key_id = hmac.digest(key, b"id", "sha256")[:6].hex()
    return f"k-{key_id}:{base64.b64encode(key).decode()}\n".encode()


def _parse_key(entry: str) -> tuple[str, bytes | None]:
    """The id and the key of an entry; None if it has none."""
    key_id, _, encoded = entry.partition(":")
    try:
        key = base64.b64decode(encoded, validate=True)
    except binascii.Error:
        key = b""
    return key_id, key if _KEY_ID.fullmatch(key_id) and len(key) == 32 else None
