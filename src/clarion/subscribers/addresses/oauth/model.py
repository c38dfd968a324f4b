"""Attempts to connect: what the state of a URL says, sealed so that only this installation can make or read it."""

import base64
import binascii
import hashlib
from enum import StrEnum
from typing import TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from clarion.clock import MINUTE, Millis
from clarion.errors import SettingsError
from clarion.ids import EnvironmentId, IntegrationId, SubscriberKey, random_bytes
from clarion.jsontext import encode_json
from clarion.vault import Vault

STATE_LIFETIME = Millis(5 * MINUTE)
CALLBACK_PATH = "/v1/integrations/chat/oauth/callback"
CONFIRM_PATH = "/v1/integrations/chat/oauth/confirm"
_CONTEXT = b"chat oauth state"
_NONCE = b"nonce of "
_ID_BYTES = 16
_MAX_STATE = 8192
T = TypeVar("T", bound=Struct)


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

    def follow(self, now: Millis) -> "Attempt":
        """The same attempt for the next thing that the browser is asked for, which has its own time and use."""
        return replace(self, id=new_attempt_id(), expires_at=Millis(now + STATE_LIFETIME))

    def check_time(self, now: Millis) -> None:
        if self.expires_at <= now:
            raise OAuthProblem("This took longer than five minutes. Begin again where you came from.")


class OAuthProblem(Exception):
    """Why an attempt failed, in words for the person at the browser."""


def new_attempt_id() -> bytes:
    return random_bytes(_ID_BYTES)


def seal_state(attempt: Attempt, vault: Vault) -> str:
    return seal_token(attempt, _CONTEXT, vault)


def open_state(state: str, vault: Vault, now: Millis) -> Attempt:
    """Return the attempt of a state; raises OAuthProblem if it is forged, damaged or too old."""
    attempt = open_token(state[:_MAX_STATE], Attempt, _CONTEXT, vault)
    attempt.check_time(now)
    return attempt


def seal_token(value: Struct, context: bytes, vault: Vault) -> str:
    """Seal a record for the browser, which brings it back."""
    return base64.urlsafe_b64encode(vault.seal_bytes(encode_json(value), context=context)).decode().rstrip("=")


def open_token(token: str, kind: type[T], context: bytes, vault: Vault) -> T:
    """Return what a browser brought back; raises OAuthProblem if it is forged or damaged."""
    try:
        sealed = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
        head, _, content = sealed.partition(b".")
        text = f"v1.{head.decode('ascii')}.{base64.b64encode(content).decode()}"
        return msgspec.json.decode(vault.open_foreign(text, context=context), type=kind)
    except (SettingsError, binascii.Error, ValueError):
        raise OAuthProblem("This address is not valid. Begin again where you came from.") from None
