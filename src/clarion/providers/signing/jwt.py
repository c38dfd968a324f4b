"""JSON Web Tokens: signing them for providers and verifying those of providers."""

import base64
from collections.abc import Mapping
from typing import Any

import msgspec
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from clarion.jsontext import encode_json
from clarion.providers.definition.receipts import is_same
from clarion.providers.definition.result import refuse_account
from clarion.providers.signing.signatures import hmac_bytes
from clarion.secret import Secret

Claims = Mapping[str, Any]


def sign_rs256(key: Secret, claims: Claims, *, key_id: str = "") -> Secret:
    """Sign with a private RSA key in PEM."""
    private = _load_key(key)
    if not isinstance(private, rsa.RSAPrivateKey):
        raise refuse_account("The private key is not one for RSA")
    unsigned = _unsigned("RS256", claims, key_id)
    return _joined(unsigned, private.sign(unsigned, padding.PKCS1v15(), SHA256()))


def sign_es256(key: Secret, claims: Claims, *, key_id: str = "") -> Secret:
    """Sign with a private key on the curve P-256 in PEM; the signature is r and s, in 32 bytes each."""
    private = _load_key(key)
    if not isinstance(private, ec.EllipticCurvePrivateKey) or private.curve.name != "secp256r1":
        raise refuse_account("The private key is not one for the curve P-256")
    unsigned = _unsigned("ES256", claims, key_id)
    first, second = decode_dss_signature(private.sign(unsigned, ec.ECDSA(SHA256())))
    return _joined(unsigned, first.to_bytes(32, "big") + second.to_bytes(32, "big"))


def sign_hs256(key: Secret, claims: Claims) -> Secret:
    unsigned = _unsigned("HS256", claims, "")
    return _joined(unsigned, hmac_bytes(key, unsigned))


def read_hs256(key: Secret, token: str) -> dict[str, Any] | None:
    """Return the claims of a token that this key signed, else None. The caller checks its times."""
    unsigned, _, signature = token.rpartition(".")
    header, _, claims = unsigned.partition(".")
    if not is_same(signature, _base64(hmac_bytes(key, unsigned.encode()))):
        return None
    try:
        if msgspec.json.decode(_bytes(header)).get("alg") != "HS256":
            return None
        return msgspec.json.decode(_bytes(claims), type=dict[str, Any])
    except (msgspec.DecodeError, ValueError, AttributeError):
        return None


def _load_key(key: Secret) -> Any:
    # Keys pasted into JSON by hand often contain `\\n` instead of line breaks.
    text = key.reveal().replace("\\n", "\n")
    try:
        return load_pem_private_key(text.encode(), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise refuse_account("The private key cannot be read") from error


def _unsigned(algorithm: str, claims: Claims, key_id: str) -> bytes:
    header = {"alg": algorithm, "typ": "JWT"} | ({"kid": key_id} if key_id else {})
    return f"{_base64(encode_json(header))}.{_base64(encode_json(claims))}".encode()


def _joined(unsigned: bytes, signature: bytes) -> Secret:
    return Secret(f"{unsigned.decode()}.{_base64(signature)}")


def _base64(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def _bytes(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
