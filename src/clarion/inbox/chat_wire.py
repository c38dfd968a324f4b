"""Shapes of a person's own connections and endpoints in chats."""

from typing import Self

from msgspec import UNSET

from clarion.clock import iso_text
from clarion.http.wire import DateTimeText, Wire
from clarion.subscribers.addresses.model import ChannelConnection, ChannelEndpoint, ConnectionMode, EndpointType
from clarion.subscribers.addresses.oauth.wire import ConnectUrlIn, LinkUrlIn
from clarion.subscribers.addresses.telegram.wire import ChatLinkIn
from clarion.subscribers.addresses.wire import ChannelConnectionQuery, ChannelEndpointQuery, WorkspaceOut


class OwnConnectUrlIn(ConnectUrlIn):
    """The subscriber is that of the session, and the context must be its context."""


class OwnLinkUrlIn(LinkUrlIn):
    """The subscriber is that of the session, and the context must be its context."""

    subscriber_id: str | None = None  # type: ignore[assignment]


class OwnChatLinkIn(ChatLinkIn):
    """The subscriber is that of the session, and the context must be its context."""

    subscriber_id: str | None = None  # type: ignore[assignment]


class OwnConnectionQuery(ChannelConnectionQuery):
    """The subscriber is that of the session."""


class OwnEndpointQuery(ChannelEndpointQuery):
    """The subscriber is that of the session."""


class ModeQuery(Wire):
    connection_mode: ConnectionMode | None = None
    """Only a connection of the person, or only a shared one."""


class OwnConnectionItem(Wire):
    identifier: str
    """Names the connection."""
    workspace: WorkspaceOut
    """The workspace that was connected."""
    created_at: DateTimeText

    @classmethod
    def of(cls, connection: ChannelConnection) -> Self:
        workspace = connection.workspace
        return cls(
            identifier=connection.identifier,
            workspace=WorkspaceOut(id=workspace["id"], name=workspace.get("name", UNSET)),
            created_at=iso_text(connection.created_at),
        )


class OwnConnectionOut(OwnConnectionItem):
    """Older clients read `data`, newer ones the object itself."""

    data: OwnConnectionItem
    """The same once more."""

    @classmethod
    def of(cls, connection: ChannelConnection) -> Self:
        item = OwnConnectionItem.of(connection)
        return cls(identifier=item.identifier, workspace=item.workspace, created_at=item.created_at, data=item)


class OwnEndpointOut(Wire):
    identifier: str
    """Names the endpoint."""
    type: EndpointType
    """What kind of address it is."""

    @classmethod
    def of(cls, endpoint: ChannelEndpoint) -> Self:
        return cls(identifier=endpoint.identifier, type=endpoint.type)
