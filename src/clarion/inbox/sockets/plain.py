"""Sockets without a protocol on top: each event is a JSON text with `event` and `data`."""

from clarion.inbox.sockets.events import SocketEvent
from clarion.inbox.sockets.sockets import POLICY, Socket, ping_frame, text_frame

_PONG = text_frame(b"pong")


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
