"""A proxy in front of a server that can cut all connections, and refuse new ones until it is opened again."""

import asyncio
import socket
from contextlib import suppress
from urllib.parse import parse_qs, urlsplit


class Proxy:
    def __init__(self, target_url: str) -> None:
        self._target = urlsplit(target_url)
        self._port = 0
        self._listener: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self._flows = asyncio.Event()
        self._flows.set()

    @property
    def url(self) -> str:
        """The URL of the database through the proxy."""
        user = self._target.netloc.rpartition("@")[0] or "postgres"
        return f"postgresql://{user}@127.0.0.1:{self._port}{self._target.path}"

    @property
    def address(self) -> str:
        """The address of a web server through the proxy."""
        return f"http://127.0.0.1:{self._port}"

    async def open(self) -> None:
        listening = socket.socket()
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", self._port))
        self._port = listening.getsockname()[1]
        self._listener = await asyncio.start_server(self._serve, sock=listening)

    async def close(self) -> None:
        """Cut all connections, and refuse new ones."""
        if self._listener is not None:
            self._listener.close()
        for writer in self._writers:
            writer.transport.abort()
        self._listener = None

    def freeze(self) -> None:
        """Pass nothing on any more; connections stay open, and new ones get no answer."""
        self._flows.clear()

    def thaw(self) -> None:
        """Pass on what was held, and everything after it."""
        self._flows.set()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        back_reader, back_writer = await self._connect()
        self._writers |= {writer, back_writer}
        try:
            await asyncio.gather(self._copy(reader, back_writer), self._copy(back_reader, writer))
        finally:
            self._writers -= {writer, back_writer}
            writer.close()
            back_writer.close()

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        folder = parse_qs(self._target.query).get("host")
        port = self._target.port or 5432
        if folder:
            return await asyncio.open_unix_connection(f"{folder[0]}/.s.PGSQL.{port}")
        return await asyncio.open_connection(self._target.hostname, port)

    async def _copy(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while data := await source.read(65_536):
                await self._flows.wait()
                sink.write(data)
                await sink.drain()
        sink.close()
