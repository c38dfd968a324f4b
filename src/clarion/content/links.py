"""Signed links in messages: who gets one can prove what it is about, and nobody can make one up. They never expire by
themselves.

A token is the URL-safe base64 of the environment's id, a byte for its purpose, the data, and a truncated HMAC-SHA256.
"""

import base64
import binascii
import hmac
from enum import IntEnum
from typing import Final

from msgspec import Struct

from clarion.ids import EnvironmentId

_ID_BYTES: Final = 16
_SIGNATURE_BYTES: Final = 16


class LinkPurpose(IntEnum):
    """What a token is for: it is of no use for anything else. The numbers are in links that were sent, and stay."""

    UNSUBSCRIBE = 1
    OPEN = 2
    CLICK = 3
    REPLY = 4
    ANSWER = 5


class LinkSecret(Struct, frozen=True):
    """What the links of an environment are signed with."""

    environment_id: EnvironmentId
    key: bytes

    def __repr__(self) -> str:
        return "LinkSecret(…)"


def sign_link(secret: LinkSecret, purpose: LinkPurpose, data: bytes) -> str:
    """Return the token for this purpose and data: letters, digits, `-` and `_`."""
    signed = secret.environment_id + bytes((purpose,)) + data
    return base64.urlsafe_b64encode(signed + _sign(secret, signed)).rstrip(b"=").decode()


def read_link(secret: LinkSecret, purpose: LinkPurpose, token: str) -> bytes | None:
    """Return the data of a token that was made with this secret for this purpose, or None."""
    content = _decode(token)
    if content is None:
        return None
    signed, signature = content[:-_SIGNATURE_BYTES], content[-_SIGNATURE_BYTES:]
    is_genuine = hmac.compare_digest(signature, _sign(secret, signed))
    head = secret.environment_id + bytes((purpose,))
    return signed[len(head) :] if is_genuine and signed.startswith(head) else None


def read_environment_id(token: str) -> EnvironmentId | None:
    """Return the environment that a token says it is of, which is proven only by `read_link`."""
    content = _decode(token)
    return None if content is None else EnvironmentId(content[:_ID_BYTES])


def _sign(secret: LinkSecret, signed: bytes) -> bytes:
    return hmac.digest(secret.key, signed, "sha256")[:_SIGNATURE_BYTES]


def _decode(token: str) -> bytes | None:
    try:
        content = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        return None
    # Other texts can stand for the same bytes.
    is_canonical = base64.urlsafe_b64encode(content).rstrip(b"=").decode() == token
    return content if is_canonical and len(content) > _ID_BYTES + _SIGNATURE_BYTES else None
