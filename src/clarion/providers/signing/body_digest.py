"""Receipts whose header holds an HMAC of the whole body."""

from clarion.providers.definition.receipts import Callback, is_same
from clarion.providers.signing.digests import hmac_hex
from clarion.secret import Secret


def is_body_signed(callback: Callback, key: Secret, *, header: str, algorithm: str = "sha256") -> bool:
    """Check a hexadecimal HMAC; always False if the key is empty."""
    expected = hmac_hex(key, callback.body, algorithm) if key else ""
    return is_same(callback.headers.get(header, ""), expected)
