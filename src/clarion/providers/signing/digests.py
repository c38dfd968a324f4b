"""HMAC digests, which sign most webhooks."""

import base64
import hmac

from clarion.secret import Secret


def hmac_bytes(key: Secret | bytes, content: bytes, algorithm: str = "sha256") -> bytes:
    return hmac.digest(key if isinstance(key, bytes) else key.reveal().encode(), content, algorithm)


def hmac_hex(key: Secret | bytes, content: bytes, algorithm: str = "sha256") -> str:
    return hmac_bytes(key, content, algorithm).hex()


def hmac_base64(key: Secret | bytes, content: bytes, algorithm: str = "sha256") -> str:
    return base64.b64encode(hmac_bytes(key, content, algorithm)).decode()
