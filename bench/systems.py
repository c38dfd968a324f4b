"""The systems under measurement: real processes on loopback."""

import asyncio
import base64
import subprocess
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import asyncpg
from msgspec import Struct, structs

from bench.client import make_request, send_one
from bench.processes import clean_environ, python_command, running, wait_for_answer
from clarion.settings.retention import DEFAULT_DAYS
from tests.servers import PostgresServer, free_port, postgres_server

KEY = "bench-key-of-development"
SQLITE, POSTGRES, BASELINE, FLOOR_HTTP = "sqlite", "postgres", "baseline", "floor http"
CLARION = (SQLITE, POSTGRES)

ENCRYPTION_KEYS = f"bench:{base64.b64encode(bytes(32)).decode()}"
_NOTHING: Mapping[str, str] = {}
_CLARION = "clarion"
"""The module to run; `bench.traced` replaces it."""


class Scaled(Struct, frozen=True, kw_only=True):
    """Knows how large a measurement is: 1 is what the page shows, less only shows whether all workloads run through."""

    scale: float = 1.0

    def scaled(self, count: int) -> int:
        """Return the number of triggers, people or seconds to measure with."""
        return max(1, round(count * self.scale))


class System(Scaled, frozen=True, kw_only=True):
    """One running system: its address and its processes."""

    kind: str
    address: str
    groups: Mapping[str, Sequence[int]]
    """Process ids by part, including the database server."""
    folder: Path
    """Holds its logs, and its data if that is a file."""
    key: str = KEY
    server: PostgresServer | None = None
    database_url: str | None = None
    start_seconds: float = 0.0
    """From the start of its process to the first response."""

    @property
    def own_groups(self) -> dict[str, Sequence[int]]:
        """Its processes without the database server, which other systems may share."""
        return {part: pids for part, pids in self.groups.items() if part != "postgres"}

    async def request(self, method: str, path: str, body: Any = None) -> Any:
        """Send one request for set-up and return the JSON of the response; raise if it is an error."""
        answer = await send_one(self.address, make_request(method, path, key=self.key, body=body))
        if answer.status >= 400:
            raise RuntimeError(f"{method} {path}: {answer.status} {answer.body[:500].decode(errors='replace')}")
        return answer.json() if answer.body else None


class Site(Scaled, frozen=True, kw_only=True):
    """Where systems are started."""

    folder: Path
    server: PostgresServer
    messages: int = 1_000_000
    """In the store that lists and retention are measured on."""


@contextmanager
def open_site(*, scale: float = 1.0, messages: int = 1_000_000) -> Iterator[Site]:
    """Make a folder and a PostgreSQL server that exist while the body runs."""
    # An error while files are deleted must not cost the figures.
    with (
        TemporaryDirectory(prefix="clarion-bench-", ignore_cleanup_errors=True) as folder,
        postgres_server(Path(folder) / "postgres") as server,
    ):
        yield Site(folder=Path(folder), server=server, scale=scale, messages=messages)


@asynccontextmanager
async def start_clarion(
    kind: str, site: Site, name: str, *, environ: Mapping[str, str] = _NOTHING, module: str = _CLARION
) -> AsyncIterator[System]:
    """Run Clarion on the store of this name, which is created if it does not exist.

    On SQLite that is one `clarion serve`, on PostgreSQL a `clarion api` and a `clarion worker`.
    """
    if kind == SQLITE:
        async with _start_on_sqlite(site, name, environ=environ, module=module) as system:
            yield system
        return
    async with start_api(site, name, environ=environ, module=module) as system:
        with clarion_worker(system, system.folder / "worker.log", environ=environ, module=module) as worker:
            groups = {"api": system.groups["api"], "worker": [worker.pid], "postgres": system.groups["postgres"]}
            yield structs.replace(system, groups=groups)


@asynccontextmanager
async def start_api(
    site: Site, name: str, *, environ: Mapping[str, str] = _NOTHING, module: str = _CLARION
) -> AsyncIterator[System]:
    """Run a `clarion api` without a worker on the database of this name, which is created if it does not exist."""
    folder = _make_folder(site, name, POSTGRES)
    url = await make_database(site.server, name)
    given = _postgres_environ(url, folder) | dict(environ)
    await _migrate(folder / "migrate.log", given)
    async with _answering(module, ["api"], folder / "api.log", given) as api:
        yield System(
            kind=POSTGRES,
            address=api.address,
            groups={"api": [api.pid], "postgres": [postmaster_pid(site.server)]},
            folder=folder,
            server=site.server,
            database_url=url,
            start_seconds=api.seconds,
            scale=site.scale,
        )


@contextmanager
def clarion_worker(
    system: System, log: Path, *, environ: Mapping[str, str] = _NOTHING, module: str = _CLARION
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a `clarion worker` on the database of a system."""
    assert system.database_url is not None
    given = _environ(_postgres_environ(system.database_url, system.folder) | dict(environ))
    with running(python_command(module, "worker"), environ=given, log=log) as process:
        yield process


@asynccontextmanager
async def start_http_floor(site: Site, name: str) -> AsyncIterator[System]:
    """Run Clarion's HTTP stack, which answers the same requests without doing any work."""
    folder = _make_folder(site, name, "floor")
    async with _answering("bench.floor", [], folder / "floor.log", _NOTHING) as started:
        groups = {"floor": [started.pid]}
        yield System(kind=FLOOR_HTTP, address=started.address, groups=groups, folder=folder, scale=site.scale)


async def make_database(server: PostgresServer, name: str, *, recreate: bool = False) -> str:
    """Return the URL of a database, which is created if it does not exist; `recreate` drops an existing one."""
    connection = await asyncpg.connect(server.url)
    try:
        if recreate:
            await connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        if not await connection.fetchval("SELECT 1 FROM pg_database WHERE datname = $1", name):
            await connection.execute(f"CREATE DATABASE {name}")
    finally:
        await connection.close()
    base, mark, query = server.url.partition("?")
    return f"{base.rpartition('/')[0]}/{name}{mark}{query}"


def postmaster_pid(server: PostgresServer) -> int:
    pid: int = server.handle.get_pid()
    return pid


@asynccontextmanager
async def _start_on_sqlite(site: Site, name: str, *, environ: Mapping[str, str], module: str) -> AsyncIterator[System]:
    folder = _make_folder(site, name, SQLITE)
    arguments = ["serve", "--data-dir", str(folder)]
    async with _answering(module, arguments, folder / "serve.log", environ) as started:
        yield System(
            kind=SQLITE,
            address=started.address,
            groups={"serve": [started.pid]},
            folder=folder,
            start_seconds=started.seconds,
            scale=site.scale,
        )


def _make_folder(site: Site, name: str, kind: str) -> Path:
    folder = site.folder / f"{name}-{kind}"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


class _Started(Struct, frozen=True):
    pid: int
    address: str
    seconds: float


@asynccontextmanager
async def _answering(
    module: str, arguments: Sequence[str], log: Path, environ: Mapping[str, str]
) -> AsyncIterator[_Started]:
    port = free_port()
    command = python_command(module, *arguments, "--port", str(port))
    began = time.monotonic()
    with running(command, environ=_environ(environ), log=log) as process:
        address = f"http://127.0.0.1:{port}"
        await wait_for_answer(address, "/v1/health-check", process, log)
        yield _Started(process.pid, address, time.monotonic() - began)


async def _migrate(log: Path, environ: Mapping[str, str]) -> None:
    with running(python_command("clarion", "migrate"), environ=_environ(environ), log=log) as process:
        if await asyncio.to_thread(process.wait, 120):
            raise RuntimeError(f"the store could not be migrated: {log.read_text()[-2000:]}")


def _postgres_environ(url: str, folder: Path) -> dict[str, str]:
    return {"CLARION_DATABASE_URL": url, "CLARION_DATA_DIR": str(folder)}


def _environ(given: Mapping[str, str]) -> dict[str, str]:
    return clean_environ(
        {
            "CLARION_DEVELOPMENT_API_KEY": KEY,
            "CLARION_ENCRYPTION_KEYS": ENCRYPTION_KEYS,
            "CLARION_EGRESS_ALLOW": "127.0.0.0/8",
            "CLARION_LOG_LEVEL": "warning",
            # Stores are filled with old data, which must stay.
            "CLARION_RETENTION": ",".join(f"{kind}=36500" for kind in DEFAULT_DAYS),
            **given,
        }
    )
