"""Signatures of the Standard Webhooks specification, which Svix started."""

import base64
import binascii

from clarion.providers.definition.receipts import Callback, is_same
from clarion.providers.signing.digests import hmac_base64
from clarion.secret import Secret


def is_standard_signed(callback: Callback, secret: Secret, *, prefix: str = "svix") -> bool:
    """Verify with the base64 key after `whsec_`; one valid signature is enough, because keys can be rotated."""
    message_id = callback.headers.get(f"{prefix}-id", "")
    timestamp = callback.headers.get(f"{prefix}-timestamp", "")
    if not secret or not callback.is_recent(timestamp):
        return False
    try:
        key = base64.b64decode(secret.reveal().removeprefix("whsec_"))
    except (binascii.Error, ValueError):
        return False
    expected = hmac_base64(key, f"{message_id}.{timestamp}.".encode() + callback.body)
    given = callback.headers.get(f"{prefix}-signature", "").split()
    return any(is_same(one.removeprefix("v1,"), expected) for one in given if one.startswith("v1,"))
