"""One open websocket: reads frames by the sans-IO part of `websockets`, writes frames that were encoded for many."""

import asyncio
from enum import Enum, auto
from typing import ClassVar, Protocol, cast

from msgspec import Struct
from websockets.exceptions import InvalidState
from websockets.frames import Frame, Opcode
from websockets.protocol import OPEN, SERVER
from websockets.protocol import Protocol as FrameReader
from websockets.utils import accept_key

from clarion.clock import Millis
from clarion.ids import EnvironmentId, SubscriberId
from clarion.inbox.sockets.events import SocketEvent

MAX_CLIENT_BYTES = 4096
"""The longest message that a client may send; those of the published clients have a few bytes."""
MAX_CLIENT_FRAMES = 300
"""How much a client may send between two pings; the published clients send one or two frames."""
MAX_UNSENT_BYTES = 64 * 1024
"""How much may wait for a client that reads slowly. Beyond it the client is dropped; it gets counts when it returns."""
OPENING_SECONDS = 10
PING_SECONDS = 20
"""How often a client is asked for a sign of life, and how long it may take to give one."""
CLOSING_SECONDS = 3

GOING_AWAY = 1012
POLICY = 1008
TRY_LATER = 1013


_TEXT_BYTE = 0x80 | Opcode.TEXT
_HANDSHAKE = (
    b"HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-accept: %b\r\n\r\n"
)


class SocketIdentity(Struct, frozen=True, kw_only=True):
    """Whose socket it is according to a token that was signed here; the session may be over."""

    environment_id: EnvironmentId
    subscriber_id: SubscriberId
    context_keys: tuple[str, ...] = ()
    epoch: int
    expires_at: Millis


class SocketOwner(Protocol):
    """What sockets report to, and where they read the time."""

    seconds: int

    def opened(self, socket: "Socket") -> None: ...

    def confirmed(self, socket: "Socket") -> None: ...

    def closed(self, socket: "Socket") -> None: ...

    def note_dropped(self) -> None: ...


class Phase(Enum):
    OPENING = auto()
    """The session is being checked."""
    OPEN = auto()
    CLOSING = auto()
    """A close frame was sent."""


class Socket(asyncio.Protocol):
    """A connection after its handshake. It has a deadline that the sweep checks; no tasks and no timers of its own."""

    __slots__ = (
        "_awaits_pong",
        "_frame_count",
        "_key",
        "_owner",
        "_reader",
        "_transport",
        "address",
        "deadline",
        "identity",
        "phase",
    )

    heartbeat: ClassVar[bytes]
    """The frame that a client has to answer."""

    def __init__(self, owner: SocketOwner, key: str, identity: SocketIdentity | None, *, address: str = "") -> None:
        """A socket of a client that sent `key`; without an identity if its token is not valid."""
        self._owner = owner
        self._key = key
        self.address = address
        self.identity = identity
        self.phase = Phase.OPENING
        self.deadline = owner.seconds + OPENING_SECONDS
        self._awaits_pong = False
        self._frame_count = 0
        self._reader = FrameReader(SERVER, state=OPEN, max_size=MAX_CLIENT_BYTES)
        self._transport: asyncio.WriteTransport | None = None

    # What the protocols differ in

    @staticmethod
    def encode(event: SocketEvent) -> bytes:
        """The frame of an event."""
        raise NotImplementedError

    def greet(self) -> bytes:
        """What is sent with the handshake."""
        return b""

    def confirm(self) -> None:
        """The session holds: the socket may get events from now on."""
        raise NotImplementedError

    def refuse(self, message: str) -> None:
        """The session does not hold."""
        raise NotImplementedError

    def read_text(self, text: bytes) -> None:
        raise NotImplementedError

    # Called by the transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.WriteTransport", transport)
        self._transport.write(_HANDSHAKE % accept_key(self._key).encode() + self.greet())
        self._key = ""
        self._owner.opened(self)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - the name is the base class's
        self._transport = None
        self._owner.closed(self)

    def data_received(self, data: bytes) -> None:
        self._awaits_pong = False
        self._frame_count += 1
        self._reader.receive_data(data)
        for event in self._reader.events_received():
            self._frame_count += 1
            if (
                isinstance(event, Frame)
                and event.opcode is Opcode.TEXT
                and event.fin
                and self.phase is not Phase.CLOSING
            ):
                self.read_text(bytes(event.data))
        if self._frame_count > MAX_CLIENT_FRAMES:
            self.close(POLICY, "Too many messages")
        self._write_answers()

    def eof_received(self) -> None:
        self._reader.receive_eof()

    # Called by the owner

    def send(self, frames: bytes) -> None:
        """Write frames, or drop a client that does not read what it was sent before."""
        transport = self._transport
        if transport is None or self.phase is Phase.CLOSING:
            return
        if transport.get_write_buffer_size() > MAX_UNSENT_BYTES:
            self._owner.note_dropped()
            self.abort()
            return
        transport.write(frames)

    def start(self, seconds: int) -> None:
        """Be open from now on, with the first ping after some seconds."""
        self.phase = Phase.OPEN
        self.deadline = self._owner.seconds + seconds

    def expire(self) -> None:
        """Send a ping, or end the connection, because its deadline has passed."""
        if self.phase is Phase.OPEN and not self._awaits_pong:
            self._awaits_pong = True
            self._frame_count = 0
            self.deadline = self._owner.seconds + PING_SECONDS
            self.send(self.heartbeat)
        else:
            self.abort()

    def close(self, code: int, reason: str = "") -> None:
        """Begin to close; the client answers, or is disconnected after a while."""
        if self.phase is Phase.CLOSING:
            return
        self.phase = Phase.CLOSING
        self.deadline = self._owner.seconds + CLOSING_SECONDS
        try:
            self._reader.send_close(code, reason)
        except InvalidState:  # the client closes already
            self.abort()
            return
        self._write_answers()

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def _write_answers(self) -> None:
        transport = self._transport
        if transport is None or transport.is_closing():
            return
        for data in self._reader.data_to_send():
            if data:
                transport.write(data)
            elif self._reader.close_rcvd is not None:
                transport.close()
            else:
                # The client gets to read why before the connection ends.
                transport.write_eof()
        if self._reader.close_expected() and self.phase is not Phase.CLOSING:
            self.phase = Phase.CLOSING
            self.deadline = self._owner.seconds + CLOSING_SECONDS


def text_frame(payload: bytes) -> bytes:
    """A frame of a server, which is not masked; written by hand because a broadcast makes many thousands."""
    size = len(payload)
    if size < 126:
        return bytes((_TEXT_BYTE, size)) + payload
    if size < 1 << 16:
        return bytes((_TEXT_BYTE, 126)) + size.to_bytes(2) + payload
    return bytes((_TEXT_BYTE, 127)) + size.to_bytes(8) + payload


def ping_frame() -> bytes:
    return bytes(Frame(Opcode.PING, b"").serialize(mask=False))
