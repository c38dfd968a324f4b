"""The two protocols of sockets: plain JSON texts, and the part of Socket.IO that clients of the inbox use."""

import msgspec

from clarion.ids import random_bytes
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

_PONG = text_frame(b"pong")

_CONNECT, _DISCONNECT, _CONNECT_ERROR, _EVENT = b"40", b"41", b"44", b"42"
_ENGINE_CLOSE, _ENGINE_PING = b"1", b"2"
_OPEN = {"upgrades": [], "pingInterval": 25_000, "pingTimeout": 20_000, "maxPayload": 1_000_000}
_NO_NAMESPACE = "There is no namespace here; give the address of the server without a path"


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


def _message(text: str) -> bytes:
    return msgspec.json.encode({"message": text})


def _new_sid() -> str:
    return random_bytes(15).hex()
