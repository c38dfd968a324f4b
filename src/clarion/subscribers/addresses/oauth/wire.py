"""Shapes of the operations that begin to connect a workspace or a person."""

from typing import Annotated

from msgspec import Meta, field

from clarion.contexts.wire import ContextsIn
from clarion.http.wire import CheckedText, SubscriberKeyText, Wire
from clarion.subscribers.addresses.model import ConnectionMode
from clarion.subscribers.addresses.oauth.model import OAuthStep
from clarion.subscribers.addresses.wire import AddressIdentifier

_Text = Annotated[str, Meta(min_length=1, max_length=512)]
_LONG = Meta(max_length=8192)


class OAuthScope(CheckedText):
    __slots__ = ()
    RULE = "must be a scope of the vendor, such as chat:write"
    EXAMPLE = "chat:write"

    @classmethod
    def accepts(cls, text: str) -> bool:
        return 1 <= len(text) <= 100 and text.isascii() and all(one.isalnum() or one in ":._-/" for one in text)


_Scopes = Annotated[list[OAuthScope], Meta(min_length=1, max_length=50)]


class ConnectUrlIn(Wire):
    integration_identifier: _Text
    subscriber_id: SubscriberKeyText | None = None
    connection_identifier: AddressIdentifier | None = None
    """The identifier of the connection that is made, or is connected again; made up if absent."""
    context: ContextsIn | None = None
    context_hash: str | None = None
    """The hexadecimal HMAC-SHA256 of the context, as for sessions of the inbox."""
    scope: _Scopes | None = None
    """What the vendor is asked for, instead of what messages need."""
    connection_mode: ConnectionMode | None = None
    """Whether the connection belongs to the person or is shared by the context."""
    auto_link_user: bool | None = None
    """Whether the person who connects gets an endpoint, too; by default in the mode `subscriber`."""


class LinkUrlIn(Wire):
    subscriber_id: SubscriberKeyText
    integration_identifier: _Text
    connection_identifier: AddressIdentifier | None = None
    """The connection of the workspace; by default that of the person, or the shared one of the context."""
    context: ContextsIn | None = None
    context_hash: str | None = None
    """The hexadecimal HMAC-SHA256 of the context, as for sessions of the inbox."""
    user_scope: _Scopes | None = None
    """What the vendor is asked for, instead of who the person is."""


class ChatUrlIn(Wire):
    """Deprecated: `…/channel-connections/oauth` and `…/channel-endpoints/oauth` have replaced it."""

    integration_identifier: _Text
    subscriber_id: SubscriberKeyText | None = None
    connection_identifier: AddressIdentifier | None = None
    """The identifier of the connection."""
    context: ContextsIn | None = None
    scope: _Scopes | None = None
    """What the vendor is asked for when a workspace is connected."""
    user_scope: _Scopes | None = None
    """What the vendor is asked for when a person is linked."""
    mode: OAuthStep = OAuthStep.CONNECT
    """Whether a workspace is connected or a person is linked."""
    connection_mode: ConnectionMode | None = None
    """Whether the connection belongs to the person or is shared by the context."""
    auto_link_user: bool = False
    """Whether the person who connects gets an endpoint, too."""


class OAuthUrlOut(Wire):
    url: str
    """Where to send the browser; valid for five minutes, and for one use."""


class OAuthCallbackQuery(Wire):
    """What the vendor adds to the address."""

    state: Annotated[str, _LONG] = ""
    """What tells which attempt is answered."""
    code: Annotated[str, _LONG] = ""
    """What the vendor gives to be exchanged for a token."""
    tenant: Annotated[str, _LONG] = ""
    """The tenant of Microsoft that consented."""
    admin_consent: Annotated[str, _LONG] = field(name="admin_consent", default="")
    """Whether an admin of the tenant consented."""
    error: Annotated[str, _LONG] = ""
    """Why nothing was granted."""
