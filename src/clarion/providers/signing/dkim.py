"""DKIM signatures of e-mails (RFC 6376), by RSA or Ed25519 (RFC 8463)."""

import base64
import binascii
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.asymmetric.utils import Prehashed
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key

_MIN_RSA_BITS = 1024
_RELAXED = b"relaxed"
# Receivers accept a one-click unsubscription only if these are signed (RFC 8058). The library has the other headers.
_ALSO_SIGNED = frozenset({b"list-unsubscribe-post"})

DkimPrivateKey = RSAPrivateKey | Ed25519PrivateKey


@dataclass(frozen=True, slots=True, kw_only=True)
class DkimKey:
    """The key that e-mails are signed with, and where receivers find its public half in the DNS."""

    domain: str
    selector: str
    private_key: DkimPrivateKey = field(repr=False)


def load_dkim_key(text: str) -> DkimPrivateKey:
    """Load a private key in PEM, or an Ed25519 key as base64 of its 32 bytes; raises ValueError."""
    # Keys pasted into JSON by hand often contain `\\n` instead of line breaks.
    text = text.replace("\\n", "\n").strip()
    try:
        key: object = load_pem_private_key(text.encode(), None) if text.startswith("--") else _load_seed(text)
    except (ValueError, TypeError, UnsupportedAlgorithm, binascii.Error) as error:
        raise ValueError("it cannot be read") from error
    if isinstance(key, Ed25519PrivateKey) or (isinstance(key, RSAPrivateKey) and key.key_size >= _MIN_RSA_BITS):
        return key
    raise ValueError(f"it is neither one for Ed25519 nor one for RSA with at least {_MIN_RSA_BITS} bits")


def sign_email(content: bytes, key: DkimKey) -> bytes:
    """Return the e-mail with a DKIM signature in front."""
    signature: bytes = _signer_class()(content, key.private_key).sign(
        key.selector.encode(), key.domain.encode(), _for_library(key.private_key), canonicalize=(_RELAXED, _RELAXED)
    )
    return signature + content


def _load_seed(text: str) -> Ed25519PrivateKey:
    return Ed25519PrivateKey.from_private_bytes(base64.b64decode(text, validate=True))


def _for_library(key: DkimPrivateKey) -> bytes:
    if isinstance(key, Ed25519PrivateKey):
        return base64.b64encode(key.private_bytes_raw())
    return key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())


class _Signature(NamedTuple):
    signature: bytes


class _DigestSigner(NamedTuple):
    """Signs as the library expects of its keys for Ed25519."""

    key: RSAPrivateKey

    def sign(self, digest: bytes) -> _Signature:
        return _Signature(self.key.sign(digest, PKCS1v15(), Prehashed(SHA256())))


@cache
def _signer_class() -> Callable[[bytes, DkimPrivateKey], Any]:
    import dkim  # noqa: PLC0415 - slow to import, and few accounts sign

    class Signer(dkim.DKIM):  # type: ignore[misc]  # the library has no types
        """Signs by RSA with OpenSSL: the RSA of the library is written in Python and needs 13 ms for 2048 bits."""

        def __init__(self, content: bytes, key: DkimPrivateKey) -> None:
            is_rsa = isinstance(key, RSAPrivateKey)
            super().__init__(content, signature_algorithm=b"rsa-sha256" if is_rsa else b"ed25519-sha256")
            self.should_sign |= _ALSO_SIGNED
            self._key = key

        def gen_header(self, fields: Any, include: Any, policy: Any, name: Any, key: Any) -> bytes:
            if isinstance(self._key, RSAPrivateKey):
                # Makes the library ask the key for a signature. The name of the algorithm is in `fields` already.
                self.signature_algorithm = b"ed25519-sha256"
                key = _DigestSigner(self._key)
            header: bytes = super().gen_header(fields, include, policy, name, key)
            return header

    return Signer
