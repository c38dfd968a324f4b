"""The id token that Microsoft returns for a code: whose it is, by the claims that have to be right."""

import base64
import re
from typing import Any

import msgspec
from msgspec import Struct

from clarion.clock import MINUTE, SECOND, Millis
from clarion.subscribers.addresses.oauth.model import OAuthProblem

_GUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_LEEWAY = 5 * MINUTE
"""How much the clocks of Microsoft and of this machine may differ."""


class SignedIn(Struct, frozen=True):
    tenant: str
    user_id: str


def read_id_token(token: Any, *, client_id: str, nonce: str, now: Millis) -> SignedIn:
    """Return who signed in; raises OAuthProblem.

    It came from Microsoft itself over TLS, in the answer to our own request: its signature adds nothing to that.
    """
    claims = _read_claims(token)
    tenant, user_id = claims.get("tid"), claims.get("oid")
    if not isinstance(tenant, str) or not isinstance(user_id, str) or not is_guid(tenant) or not is_guid(user_id):
        raise OAuthProblem("Microsoft did not say who you are, and in which tenant.")
    if claims.get("aud") != client_id or claims.get("iss") != f"https://login.microsoftonline.com/{tenant}/v2.0":
        raise OAuthProblem("Microsoft's answer is for another app, or not from your tenant.")
    if not _is_valid_at(claims, now):
        raise OAuthProblem("Microsoft's answer has expired. Begin again where you came from.")
    if claims.get("nonce") != nonce:
        raise OAuthProblem("Microsoft's answer is to another attempt. Begin again where you came from.")
    return SignedIn(tenant.lower(), user_id)


def is_guid(text: str) -> bool:
    return _GUID.fullmatch(text) is not None


def _is_valid_at(claims: dict[str, Any], now: Millis) -> bool:
    expires_at, valid_from = claims.get("exp"), claims.get("nbf", 0)
    if not isinstance(expires_at, int) or not isinstance(valid_from, int):
        return False
    return valid_from * SECOND - _LEEWAY <= now < expires_at * SECOND + _LEEWAY


def _read_claims(token: Any) -> dict[str, Any]:
    parts = token.split(".") if isinstance(token, str) else []
    try:
        content = base64.b64decode(parts[1] + "=" * (-len(parts[1]) % 4), altchars=b"-_", validate=True)
        return msgspec.json.decode(content, type=dict[str, Any])
    except (IndexError, ValueError, msgspec.DecodeError):
        raise OAuthProblem("Microsoft did not say who you are.") from None
