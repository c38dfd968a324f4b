"""Requests for sockets: which protocol, whose, and whether there is room."""

import asyncio
import base64
import binascii
from collections.abc import Mapping
from urllib.parse import parse_qs

from clarion.clock import Millis
from clarion.errors import Unauthenticated
from clarion.http.server.proxies import TrustedProxies
from clarion.http.server.upgrades import UpgradeRefusal, UpgradeRequest
from clarion.inbox.sessions.tokens import SessionTokens
from clarion.inbox.sockets.protocols import PlainSocket, SocketIoSocket
from clarion.inbox.sockets.sockets import Socket, SocketIdentity
from clarion.inbox.sockets.table import SocketTable
from clarion.settings.hosts import ANY_ORIGIN
from clarion.settings.model import Settings

SOCKET_IO_PATHS = frozenset({b"/socket.io/", b"/socket.io"})
PLAIN_PATHS = frozenset({b"/ws", b"/ws/"})

_ORIGIN = "Pages of this origin may not connect; list it in CLARION_INBOX_ORIGINS"
_VERSION = "Connect with version 13 of websockets: send GET, Sec-WebSocket-Version and Sec-WebSocket-Key"
_ENGINE = "Connect with EIO=4 and transport=websocket; there is no polling"


class SocketUpgrader:
    """Turns connections into sockets. A token that is not valid is refused on the socket, in words of its protocol."""

    paths = SOCKET_IO_PATHS | PLAIN_PATHS

    def __init__(self, table: SocketTable, tokens: SessionTokens, settings: Settings) -> None:
        origins = settings.inbox_origins
        self._proxies = TrustedProxies(settings.trusted_proxies)
        self._table = table
        self._tokens = tokens
        self._origins = None if ANY_ORIGIN in origins else frozenset(one.encode() for one in origins)

    def upgrade(self, request: UpgradeRequest) -> asyncio.Protocol | UpgradeRefusal:
        headers = dict(request.headers)
        key = _find_key(request, headers)
        if key is None:
            return UpgradeRefusal(400, _VERSION)
        # Only pages send an origin: without one, nobody else's page uses the token.
        if self._origins is not None and b"origin" in headers and headers[b"origin"] not in self._origins:
            return UpgradeRefusal(403, _ORIGIN)
        query = parse_qs(request.query.decode("latin-1"))
        kind: type[Socket] = PlainSocket
        if request.path in SOCKET_IO_PATHS:
            if query.get("EIO") != ["4"] or query.get("transport") != ["websocket"]:
                return UpgradeRefusal(400, _ENGINE)
            kind = SocketIoSocket
        identity = self._find_identity(query.get("token", [""])[0])
        address = self._proxies.find_client(request.address, request.headers)
        refusal = self._table.find_refusal(address, identity)
        return kind(self._table, key, identity, address=address) if refusal is None else refusal

    def _find_identity(self, token: str) -> SocketIdentity | None:
        try:
            caller = self._tokens.read(token)
        except Unauthenticated:
            return None
        if caller.session is None:
            return None
        return SocketIdentity(
            environment_id=caller.environment_id,
            subscriber_id=caller.session.subscriber_id,
            context_keys=caller.session.context_keys,
            epoch=caller.session.epoch,
            expires_at=caller.expires_at or Millis(0),
        )


def _find_key(request: UpgradeRequest, headers: Mapping[bytes, bytes]) -> str | None:
    key = headers.get(b"sec-websocket-key", b"").strip()
    try:
        is_key = len(base64.b64decode(key, validate=True)) == 16
    except binascii.Error:
        return None
    is_version = headers.get(b"sec-websocket-version", b"").strip() == b"13"
    return key.decode() if request.method == "GET" and is_version and is_key else None
