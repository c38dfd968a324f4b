"""The signatures of the Standard Webhooks scheme, which Svix brought up."""

import base64
import binascii

from clarion.providers.definition.receipts import Callback, is_same
from clarion.providers.signing.digests import hmac_base64
from clarion.secret import Secret


def is_standard_signed(callback: Callback, secret: Secret, *, prefix: str = "svix") -> bool:
    """By the key in base64 behind `whsec_`; one of several signatures is enough, as while keys change."""
    message_id = callback.headers.get(f"{prefix}-id", "")
    moment = callback.headers.get(f"{prefix}-timestamp", "")
    if not secret or not callback.is_recent(moment):
        return False
    try:
        key = base64.b64decode(secret.reveal().removeprefix("whsec_"))
    except (binascii.Error, ValueError):
        return False
    expected = hmac_base64(key, f"{message_id}.{moment}.".encode() + callback.body)
    given = callback.headers.get(f"{prefix}-signature", "").split()
    return any(is_same(one.removeprefix("v1,"), expected) for one in given if one.startswith("v1,"))
