"""Signatures of webhooks, ours and those of providers: HMAC, ECDSA on P-256 and Ed25519."""

import base64
import binascii
import hmac
from collections.abc import Mapping

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import load_der_public_key

from clarion.clock import Millis
from clarion.providers.definition.receipts import Callback, is_same
from clarion.providers.definition.request import ProviderCall
from clarion.secret import Secret


def hmac_bytes(key: Secret | bytes, content: bytes, algorithm: str = "sha256") -> bytes:
    return hmac.digest(key if isinstance(key, bytes) else key.reveal().encode(), content, algorithm)


def hmac_hex(key: Secret | bytes, content: bytes, algorithm: str = "sha256") -> str:
    """Return the HMAC in hexadecimal; for an empty key an empty text, which no signature matches."""
    return hmac_bytes(key, content, algorithm).hex() if key else ""


def hmac_base64(key: Secret | bytes, content: bytes, algorithm: str = "sha256") -> str:
    return base64.b64encode(hmac_bytes(key, content, algorithm)).decode()


def sign_webhook(key: Secret, call: ProviderCall, now: Millis) -> Mapping[str, str]:
    """Return two signature headers: the established one, and one with a timestamp; none if the key is empty."""
    if not key:
        return {}
    seconds = now // 1000
    timed = f"{seconds}.".encode() + call.content
    return {
        "X-Novu-Signature": hmac_hex(key, call.content),
        # The timestamp lets receivers reject replayed calls.
        "X-Clarion-Signature": f"t={seconds},v1={hmac_hex(key, timed)}",
    }


def is_body_signed(callback: Callback, key: Secret, *, header: str, algorithm: str = "sha256") -> bool:
    """Check a hexadecimal HMAC of the whole body; always False if the key is empty."""
    return is_same(callback.headers.get(header, ""), hmac_hex(key, callback.body, algorithm))


def is_standard_signed(callback: Callback, secret: Secret) -> bool:
    """Verify with the base64 key after `whsec_`; one valid signature is enough, because keys can be rotated."""
    message_id = callback.headers.get("svix-id", "")
    timestamp = callback.headers.get("svix-timestamp", "")
    if not secret or not callback.is_recent(timestamp):
        return False
    try:
        key = base64.b64decode(secret.reveal().removeprefix("whsec_"))
    except (binascii.Error, ValueError):
        return False
    expected = hmac_base64(key, f"{message_id}.{timestamp}.".encode() + callback.body)
    given = callback.headers.get("svix-signature", "").split()
    return any(is_same(one.removeprefix("v1,"), expected) for one in given if one.startswith("v1,"))


def is_ecdsa_signed(public_key: str, signature: str, content: bytes) -> bool:
    """Verify a signature; key and signature are base64 of DER."""
    try:
        key = load_der_public_key(base64.b64decode(public_key, validate=True))
        if not isinstance(key, EllipticCurvePublicKey):
            return False
        key.verify(base64.b64decode(signature, validate=True), content, ECDSA(SHA256()))
    except (InvalidSignature, UnsupportedAlgorithm, ValueError, binascii.Error):
        return False
    return True


def is_ed25519_signed(public_key: str, signature: str, content: bytes) -> bool:
    """Verify a signature; the key is base64 of its 32 bytes."""
    try:
        key = Ed25519PublicKey.from_public_bytes(base64.b64decode(public_key, validate=True))
        key.verify(base64.b64decode(signature, validate=True), content)
    except (InvalidSignature, ValueError, binascii.Error):
        return False
    return True
