"""Signatures of the plain webhooks that an integration sends to."""

from collections.abc import Mapping

from clarion.clock import Millis
from clarion.providers.definition.request import ProviderCall
from clarion.providers.signing.digests import hmac_hex
from clarion.secret import Secret


def sign_webhook(key: Secret, call: ProviderCall, now: Millis) -> Mapping[str, str]:
    """Two digests of the body: one as receivers of such webhooks know it, one that tells when; none without a key."""
    if not key:
        return {}
    seconds = now // 1000
    timed = f"{seconds}.".encode() + call.content
    return {
        "X-Novu-Signature": hmac_hex(key, call.content),
        # With the moment in it, an old call cannot be passed off as a new one.
        "X-Clarion-Signature": f"t={seconds},v1={hmac_hex(key, timed)}",
    }
