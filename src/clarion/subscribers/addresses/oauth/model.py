"""Attempts to connect: what the state of a URL says, sealed so that only this installation can make or read it."""

import base64
import binascii
import hashlib
from enum import StrEnum

import msgspec
from msgspec import Struct

from clarion.clock import MINUTE, Millis
from clarion.errors import SettingsError
from clarion.ids import EnvironmentId, IntegrationId, SubscriberKey, random_bytes
from clarion.jsontext import encode_json
from clarion.vault import Vault

STATE_LIFETIME = Millis(5 * MINUTE)
CALLBACK_PATH = "/v1/integrations/chat/oauth/callback"
_CONTEXT = b"chat oauth state"
_NONCE = b"nonce of "
_ID_BYTES = 16
_MAX_STATE = 8192


class OAuthStep(StrEnum):
    CONNECT = "connect"
    """A workspace is connected."""
    LINK = "link_user"
    """A person is linked."""


class Attempt(Struct, frozen=True, kw_only=True):
    """What a person was sent to the vendor for."""

    id: bytes
    """Of one use: the first answer spends it."""
    environment_id: EnvironmentId
    integration_id: IntegrationId
    expires_at: Millis
    step: OAuthStep
    redirect_uri: str
    context_keys: tuple[str, ...]
    subscriber_key: SubscriberKey | None
    is_shared: bool = False
    connection_identifier: str | None = None
    links_person: bool = False
    """Whether whoever connects the workspace is linked at the same time."""
    replaces: bool = False
    """Whether what was connected before may be changed; when it is finished, there may be more than when it began."""
    tenant: str | None = None
    """The tenant of Microsoft that a person signs in to: that of the connection, or the one said to have consented."""

    @property
    def nonce(self) -> str:
        """Binds the answer of a sign-in to this attempt, and says nothing of it."""
        return hashlib.sha256(_NONCE + self.id).hexdigest()


class OAuthProblem(Exception):
    """Why an attempt failed, in words for the person at the browser."""


def new_attempt_id() -> bytes:
    return random_bytes(_ID_BYTES)


def seal_state(attempt: Attempt, vault: Vault) -> str:
    return base64.urlsafe_b64encode(vault.seal_bytes(encode_json(attempt), context=_CONTEXT)).decode().rstrip("=")


def open_state(state: str, vault: Vault, now: Millis) -> Attempt:
    """Return the attempt of a state; raises OAuthProblem if it is forged, damaged or too old."""
    try:
        sealed = base64.b64decode(state[:_MAX_STATE] + "=" * (-len(state) % 4), altchars=b"-_", validate=True)
        head, _, content = sealed.partition(b".")
        text = f"v1.{head.decode('ascii')}.{base64.b64encode(content).decode()}"
        attempt = msgspec.json.decode(vault.open_foreign(text, context=_CONTEXT), type=Attempt)
    except (SettingsError, binascii.Error, ValueError):
        raise OAuthProblem("This address is not valid. Begin again where you came from.") from None
    if attempt.expires_at <= now:
        raise OAuthProblem("This took longer than five minutes. Begin again where you came from.")
    return attempt
