"""Verifying signatures with a public key: ECDSA on P-256, and Ed25519."""

import base64
import binascii

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import load_der_public_key


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
