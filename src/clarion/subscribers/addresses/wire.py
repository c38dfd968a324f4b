"""Shapes of channel connections and channel endpoints."""

from typing import Annotated, Any, Self

from msgspec import UNSET, Meta, UnsetType

from clarion.clock import iso_text
from clarion.contexts.wire import ContextKeysFilter, ContextsIn, read_keys
from clarion.http.pages import CursorQuery
from clarion.http.wire import CheckedText, DateTimeText, MomentText, SubscriberKeyText, Wire, given, one_of
from clarion.ids import SubscriberKey
from clarion.jsontext import plain_value
from clarion.providers.builtin import BuiltinNames
from clarion.subscribers.addresses.filters import AddressFilter
from clarion.subscribers.addresses.kinds import ADDRESSES
from clarion.subscribers.addresses.model import (
    ChannelConnection,
    ChannelEndpoint,
    ConnectionMode,
    EndpointType,
    mask_auth,
    mask_endpoint,
)
from clarion.vocabulary import Channel

_Text = Annotated[str, Meta(min_length=1, max_length=512)]
_Token = Annotated[str, Meta(min_length=1, max_length=8192)]
_MOMENTS = {"expires_at": "expiresAt", "refresh_token_expires_at": "refreshTokenExpiresAt"}


class AddressIdentifier(CheckedText):
    """The caller's own name of a connection or endpoint, which is a part of URLs."""

    __slots__ = ()
    RULE = "must have 1 to 300 characters, no control characters and no white space at its ends"
    EXAMPLE = "acme-slack"

    @classmethod
    def accepts(cls, text: str) -> bool:
        # Clients make it of a subscriberId, which has up to 255.
        return 1 <= len(text) <= 300 and text.isprintable() and text.strip() == text


class WorkspaceIn(Wire):
    id: _Text
    """The id of the workspace: of a Slack team, a tenant of Microsoft, an organisation of Webex."""
    name: _Text | UnsetType = UNSET
    """What people call the workspace."""
    bot_user_id: _Text | UnsetType = UNSET
    """The id that the bot has in the workspace."""


class ConnectionAuthIn(Wire):
    """Tokens are stored encrypted, and never shown; one that is sent as it is shown stays as it is."""

    access_token: _Token
    """The token that messages are sent with."""
    refresh_token: _Token | UnsetType = UNSET
    """The token that a new access token is fetched with."""
    expires_at: MomentText | UnsetType = UNSET
    """When the access token stops working."""
    refresh_token_expires_at: MomentText | UnsetType = UNSET
    """When the refresh token stops working."""

    @property
    def stored(self) -> dict[str, str]:
        moments = ((name, getattr(self, name)) for name in ("expires_at", "refresh_token_expires_at"))
        times = {_MOMENTS[name]: iso_text(text.moment) for name, text in moments if isinstance(text, MomentText)}
        return {**plain_value(self), **times}


class ChannelConnectionIn(Wire):
    integration_identifier: _Text
    workspace: WorkspaceIn
    """The workspace that was connected."""
    auth: ConnectionAuthIn
    """What the workspace gave: the tokens."""
    identifier: AddressIdentifier | None = None
    """Your own name of the connection; made up if absent."""
    subscriber_id: SubscriberKeyText | None = None
    """The person that the connection belongs to; none for a shared one."""
    context: ContextsIn | None = None
    connection_mode: ConnectionMode | None = None
    """Whether it belongs to a person or is shared by a context; by default what `subscriberId` says."""


class ChannelConnectionPatch(Wire):
    workspace: WorkspaceIn
    """Replaces the stored workspace."""
    auth: ConnectionAuthIn
    """Replaces the stored tokens."""


class ChannelConnectionQuery(CursorQuery):
    subscriber_id: str | None = None
    """Only those of the subscriber with this `subscriberId`."""
    connection_mode: ConnectionMode | None = None
    """Only those of people, or only shared ones."""
    channel: Channel | None = None
    provider_id: str | None = None
    """Only those of this provider."""
    integration_identifier: str | None = None
    """Only those of the integration with this identifier."""
    context_keys: ContextKeysFilter | None = None
    """Only those of exactly this context, as `type:id` texts in any order; one empty text is for none."""

    def read_filter(self, provider_id: str | None) -> AddressFilter:
        return AddressFilter(
            subscriber_key=_key(self.subscriber_id),
            mode=self.connection_mode,
            channel=self.channel,
            provider_id=provider_id,
            integration_identifier=self.integration_identifier,
            context_keys=read_keys(self.context_keys),
        )


class WorkspaceOut(Wire):
    id: str
    """The id of the workspace at the provider."""
    name: str | UnsetType = UNSET
    """What people call the workspace."""
    bot_user_id: str | UnsetType = UNSET
    """The id that the bot has in the workspace."""


class ConnectionAuthOut(Wire):
    access_token: str
    """Always `********`."""
    refresh_token: str | UnsetType = UNSET
    """`********`, if there is one."""
    expires_at: DateTimeText | UnsetType = UNSET
    """When the access token stops working."""
    refresh_token_expires_at: DateTimeText | UnsetType = UNSET
    """When the refresh token stops working."""


class ConnectionTroubleOut(Wire):
    at: DateTimeText
    """When the token could not be renewed for the last time."""
    message: str
    """What the vendor answered, and the way out."""
    needs_consent: bool
    """Whether the workspace has to be connected again; otherwise the next message tries once more."""


class ChannelConnectionOut(Wire):
    identifier: str
    """Names the connection, also in endpoints."""
    channel: Channel | None
    provider_id: str | None
    integration_identifier: str | None
    subscriber_id: str | None
    """The person that it belongs to; null if it is shared."""
    context_keys: list[str]
    """The context that it belongs to, as sorted `type:id` texts."""
    workspace: WorkspaceOut
    """The workspace that was connected."""
    auth: ConnectionAuthOut
    """The tokens, masked."""
    trouble: ConnectionTroubleOut | None
    """Why messages cannot be sent with the connection; null if nothing is known of that."""
    created_at: DateTimeText
    updated_at: DateTimeText

    @classmethod
    def of(cls, connection: ChannelConnection, names: BuiltinNames) -> Self:
        workspace, auth, trouble = connection.workspace, mask_auth(connection.auth), connection.trouble
        return cls(
            identifier=connection.identifier,
            channel=connection.integration.channel,
            provider_id=names.to_wire(connection.integration.provider_id),
            integration_identifier=connection.integration.identifier,
            subscriber_id=connection.subscriber_key,
            context_keys=list(connection.context_keys),
            workspace=WorkspaceOut(
                id=workspace["id"],
                name=given(workspace.get("name")),
                bot_user_id=given(workspace.get("botUserId")),
            ),
            auth=ConnectionAuthOut(
                access_token=auth["accessToken"],
                refresh_token=given(auth.get("refreshToken")),
                expires_at=given(auth.get("expiresAt")),
                refresh_token_expires_at=given(auth.get("refreshTokenExpiresAt")),
            ),
            trouble=None
            if trouble is None
            else ConnectionTroubleOut(
                at=iso_text(trouble.at), message=trouble.message, needs_consent=trouble.needs_consent
            ),
            created_at=iso_text(connection.created_at),
            updated_at=iso_text(connection.updated_at),
        )


class ChannelEndpointIn(Wire):
    subscriber_id: SubscriberKeyText
    integration_identifier: _Text
    type: EndpointType
    """What kind of address it is."""
    endpoint: Annotated[dict[str, Any], one_of(*ADDRESSES)]
    """The address; which members it has follows from `type`."""
    identifier: AddressIdentifier | None = None
    """Your own name of the endpoint; made up if absent."""
    create_subscriber_if_missing: bool = False
    """Whether a subscriber who does not exist is created, with nothing but the id; otherwise it is a 404."""
    context: ContextsIn | None = None
    connection_identifier: str | None = None
    """The connection whose token messages are sent with."""


class ChannelEndpointPatch(Wire):
    endpoint: Annotated[dict[str, Any], one_of(*ADDRESSES)]
    """Replaces the address; a member that is sent as it is shown stays as it is."""


class ChannelEndpointQuery(CursorQuery):
    subscriber_id: str | None = None
    """Only those of the subscriber with this `subscriberId`."""
    channel: Channel | None = None
    provider_id: str | None = None
    """Only those of this provider."""
    integration_identifier: str | None = None
    """Only those of the integration with this identifier."""
    connection_identifier: str | None = None
    """Only those of the connection with this identifier."""
    context_keys: ContextKeysFilter | None = None
    """Only those of exactly this context, as `type:id` texts in any order; one empty text is for none."""

    def read_filter(self, provider_id: str | None) -> AddressFilter:
        return AddressFilter(
            subscriber_key=_key(self.subscriber_id),
            channel=self.channel,
            provider_id=provider_id,
            integration_identifier=self.integration_identifier,
            connection_identifier=self.connection_identifier,
            context_keys=read_keys(self.context_keys),
        )


class ChannelEndpointOut(Wire):
    identifier: str
    """Names the endpoint."""
    channel: Channel | None
    provider_id: str | None
    integration_identifier: str | None
    connection_identifier: str | None
    """The connection whose token messages are sent with; null if there is none, or it was deleted."""
    subscriber_id: str | None
    context_keys: list[str]
    """The context that it belongs to, as sorted `type:id` texts: only triggers of exactly this context use it."""
    type: EndpointType
    """What kind of address it is."""
    endpoint: Annotated[dict[str, Any], one_of(*ADDRESSES)]
    """The address; keys and tokens are `********`, and URLs have their host alone."""
    created_at: DateTimeText
    updated_at: DateTimeText

    @classmethod
    def of(cls, endpoint: ChannelEndpoint, names: BuiltinNames) -> Self:
        return cls(
            identifier=endpoint.identifier,
            channel=endpoint.integration.channel,
            provider_id=names.to_wire(endpoint.integration.provider_id),
            integration_identifier=endpoint.integration.identifier,
            connection_identifier=endpoint.connection_identifier,
            subscriber_id=endpoint.subscriber_key,
            context_keys=list(endpoint.context_keys),
            type=endpoint.type,
            endpoint=mask_endpoint(endpoint.endpoint),
            created_at=iso_text(endpoint.created_at),
            updated_at=iso_text(endpoint.updated_at),
        )


def _key(text: str | None) -> SubscriberKey | None:
    return None if text is None else SubscriberKey(text)
