"""Signatures of calls to plain webhooks."""

from collections.abc import Mapping

from clarion.clock import Millis
from clarion.providers.definition.request import ProviderCall
from clarion.providers.signing.digests import hmac_hex
from clarion.secret import Secret


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
