"""Requests for sockets, and the two protocols that they choose between.

One sends plain JSON texts. The other is the part of Socket.IO (protocol 5 on Engine.IO 4) that clients of the inbox
use: events only.
"""

import asyncio
import base64
import binascii
from collections.abc import Mapping
from urllib.parse import parse_qs

import msgspec

from clarion.clock import Millis
from clarion.errors import Unauthenticated
from clarion.http.server.connections import UpgradeRefusal, UpgradeRequest
from clarion.http.server.proxies import TrustedProxies
from clarion.ids import random_bytes
from clarion.inbox.sessions.tokens import SessionTokens
from clarion.inbox.sockets.events import SocketEvent
from clarion.inbox.sockets.sockets import (
    CLOSING_SECONDS,
    POLICY,
    Phase,
    Socket,
    SocketIdentity,
    SocketOwner,
    ping_frame,
    text_frame,
)
from clarion.inbox.sockets.table import SocketTable
from clarion.settings.addresses import ANY_ORIGIN
from clarion.settings.model import Settings

SOCKET_IO_PATHS = frozenset({b"/socket.io/", b"/socket.io"})
PLAIN_PATHS = frozenset({b"/ws", b"/ws/"})
_PONG = text_frame(b"pong")
_CONNECT, _DISCONNECT, _CONNECT_ERROR, _EVENT = b"40", b"41", b"44", b"42"
_ENGINE_CLOSE, _ENGINE_PING = b"1", b"2"
_OPEN = {"upgrades": [], "pingInterval": 25_000, "pingTimeout": 20_000, "maxPayload": 1_000_000}
_NO_NAMESPACE = "There is no namespace here; give the address of the server without a path"

_ORIGIN = "Pages of this origin may not connect; list it in CLARION_INBOX_ORIGINS"
_VERSION = "Connect with version 13 of websockets: send GET, Sec-WebSocket-Version and Sec-WebSocket-Key"
_ENGINE = "Connect with EIO=4 and transport=websocket; there is no polling"


class PlainSocket(Socket):
    """The published client sends `ping` until its first reconnect only, so nothing is expected from it but pongs.

    A token that is refused closes the socket with 1008 after the handshake: a page cannot see the status of a
    handshake that failed, and would log an error for each attempt.
    """

    __slots__ = ()

    heartbeat = ping_frame()

    @staticmethod
    def encode(event: SocketEvent) -> bytes:
        return text_frame(b'{"event":"%b","data":%b}' % (event.name.encode(), event.data))

    def confirm(self) -> None:
        self._owner.confirmed(self)

    def refuse(self, message: str) -> None:
        self.close(POLICY, message)

    def read_text(self, text: bytes) -> None:
        if text == b"ping":
            self.send(_PONG)


class SocketIoSocket(Socket):
    """A refused session gets a `44`, after which clients do not try again. For all else the connection just ends.

    Clients do not come back after a `41` either, so it is never sent.
    """

    __slots__ = ("_is_connected", "_refusal", "_verdict")

    heartbeat = text_frame(_ENGINE_PING)

    def __init__(self, owner: SocketOwner, key: str, identity: SocketIdentity | None, *, address: str = "") -> None:
        super().__init__(owner, key, identity, address=address)
        self._is_connected = False
        self._verdict: bool | None = None
        self._refusal = ""

    @staticmethod
    def encode(event: SocketEvent) -> bytes:
        return text_frame(b'%b["%b",%b]' % (_EVENT, event.name.encode(), event.data))

    def greet(self) -> bytes:
        return text_frame(b"0" + msgspec.json.encode({"sid": _new_sid(), **_OPEN}))

    def confirm(self) -> None:
        self._verdict = True
        self._answer()

    def refuse(self, message: str) -> None:
        if self.phase is Phase.OPEN:
            # Its next attempt gets the refusal.
            self.close(POLICY, message)
            return
        self._verdict, self._refusal = False, message
        self._answer()

    def read_text(self, text: bytes) -> None:
        if text.startswith(_CONNECT):
            self._connect(text[2:])
        elif text in (_DISCONNECT, _ENGINE_CLOSE):
            self.close(1000)

    def _connect(self, rest: bytes) -> None:
        if rest.startswith(b"/"):
            name = rest.split(b",", 1)[0]
            if name != b"/":
                self.send(text_frame(b"%b%b,%b" % (_CONNECT_ERROR, name, _message(_NO_NAMESPACE))))
                return
        if not self._is_connected:
            self._is_connected = True
            self._answer()

    def _answer(self) -> None:
        """Answer when the client has asked and the session is checked, in whichever order."""
        if not self._is_connected or self._verdict is None:
            return
        if self._verdict:
            self.send(text_frame(_CONNECT + msgspec.json.encode({"sid": _new_sid()})))
            self._owner.confirmed(self)
        else:
            self.send(text_frame(_CONNECT_ERROR + _message(self._refusal)))
            # The client closes the connection.
            self.deadline = self._owner.seconds + CLOSING_SECONDS


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


def _message(text: str) -> bytes:
    return msgspec.json.encode({"message": text})


def _new_sid() -> str:
    return random_bytes(15).hex()


def _find_key(request: UpgradeRequest, headers: Mapping[bytes, bytes]) -> str | None:
    key = headers.get(b"sec-websocket-key", b"").strip()
    try:
        is_key = len(base64.b64decode(key, validate=True)) == 16
    except binascii.Error:
        return None
    is_version = headers.get(b"sec-websocket-version", b"").strip() == b"13"
    return key.decode() if request.method == "GET" and is_version and is_key else None
