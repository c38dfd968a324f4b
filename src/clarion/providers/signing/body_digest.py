"""Reports that are signed as a whole: a header holds the digest of their body, by a key of the account."""

from clarion.providers.definition.receipts import Callback, is_same
from clarion.providers.signing.digests import hmac_hex
from clarion.secret import Secret


def is_body_signed(callback: Callback, key: Secret, *, header: str, algorithm: str = "sha256") -> bool:
    """By a digest in hexadecimal; nothing is signed by an empty key."""
    expected = hmac_hex(key, callback.body, algorithm) if key else ""
    return is_same(callback.headers.get(header, ""), expected)
