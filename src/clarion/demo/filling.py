"""Fills an empty environment: runs the week in a temporary store, and copies the result in one transaction.

Nobody sees the environment half full. Workers that serve the store meanwhile never see work of the past, and no
provider is called.
"""

import asyncio
import random
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from msgspec import Struct
from msgspec.structs import asdict

from clarion.app import build_application
from clarion.audit.model import Author
from clarion.clock import ManualClock, Millis
from clarion.db.migrations.migrate import create_sqlite
from clarion.db.port import Connection, Database
from clarion.db.query import sql
from clarion.db.sqlite.database import SqliteDatabase
from clarion.db.transfer import Rows, insert_rows, read_rows
from clarion.demo.api import DemoApi
from clarion.demo.events import SEED, WEEK, list_outages
from clarion.demo.vendors import DemoGateway, Vendors
from clarion.demo.week import Week
from clarion.engine.worker import Engine
from clarion.environments.actions import KeyRequest, create_api_key
from clarion.environments.configuration import raise_configuration_version
from clarion.environments.deletion import TABLES
from clarion.environments.model import Environment
from clarion.errors import ClarionError
from clarion.inbox.snoozes import Waker
from clarion.settings.model import Settings
from clarion.vault import Vault
from clarion.vocabulary import count_text

_TEMPORARY = frozenset({"api_keys", "idempotency_keys", "rate_limit_buckets", "retention_progress", "online_people"})
_COPIED = tuple(one.name for one in TABLES if one.name not in _TEMPORARY)

_COUNT = sql("""
    SELECT
        (SELECT COUNT(*) FROM workflows WHERE environment_id = :environment_id AND deleted_at IS NULL) AS workflows,
        (SELECT COUNT(*) FROM subscribers WHERE environment_id = :environment_id) AS people,
        (SELECT COUNT(*) FROM topics WHERE environment_id = :environment_id) AS topics,
        (SELECT COUNT(*) FROM notifications WHERE environment_id = :environment_id) AS runs,
        (SELECT COUNT(*) FROM messages WHERE environment_id = :environment_id) AS messages,
        (SELECT COUNT(*) FROM integrations
         WHERE environment_id = :environment_id AND channel <> 'in_app' AND deleted_at IS NULL) AS integrations
""")
_SIGN = (
    sql("""
        UPDATE audit_entries SET actor_type = :type, actor_id = NULL, actor_name = :name, request_id = NULL
        WHERE environment_id = :environment_id
    """),
    sql("""
        UPDATE workflow_version_notes SET actor_type = :type, actor_id = NULL, actor_name = :name
        WHERE environment_id = :environment_id
    """),
)
# The vendors of the demo answer at once, which no chart of latencies should show.
_SLOW_DOWN = sql("""
    UPDATE integration_counts SET
        milliseconds = (sent + failed) * (140 + (sent * 37 + failed * 11) % 90), slowest = 230 + (sent * 53) % 400
    WHERE environment_id = :environment_id
""")
_ONE = {
    "workflows": "workflow",
    "people": "person",
    "topics": "topic",
    "runs": "run",
    "messages": "message",
    "integrations": "integration",
}


class NotEmpty(ClarionError):
    """The environment has something already."""


class Contents(Struct, frozen=True, kw_only=True):
    """How much an environment has."""

    workflows: int
    people: int
    topics: int
    runs: int
    messages: int
    integrations: int

    @property
    def is_empty(self) -> bool:
        return not any(asdict(self).values())

    def describe(self) -> str:
        """Return what there is, such as "1 workflow, 3 people"."""
        return ", ".join(count_text(number, _ONE[name], name) for name, number in asdict(self).items() if number)


async def fill_environment(
    database: Database, environment: Environment, *, vault: Vault, until: Millis, author: Author
) -> Contents:
    """Fill an empty environment with a week that ends at `until`; raises NotEmpty.

    The same moment makes the same week, but for ids.
    """
    await database.read(lambda db: _require_empty(db, environment))
    seeds = await database.read(lambda db: _read_seeds(db, environment))
    tables = await _make_week(seeds, environment, vault=vault, until=until, author=author)

    async def write(db: Connection) -> Contents:
        # The row of the environment is locked by this, so that two commands cannot both find it empty.
        await raise_configuration_version(db, environment.id)
        await _require_empty(db, environment)
        known = set(seeds["integrations"])
        for table, rows in tables.items():
            new = [one for one in rows if one not in known] if table == "integrations" else rows
            await insert_rows(db, table, new)
        return await count_contents(db, environment)

    return await database.transaction(write)


async def count_contents(db: Connection, environment: Environment) -> Contents:
    row = await db.fetch_one(_COUNT, environment_id=environment.id)
    return Contents(**(row or {}))


async def _require_empty(db: Connection, environment: Environment) -> None:
    contents = await count_contents(db, environment)
    if contents.is_empty:
        return
    raise NotEmpty(
        f"The environment '{environment.name}' is not empty (it has {contents.describe()}), and the demo fills only an "
        "empty one, so that it never mixes with your own data. Create one for it with `clarion environments create "
        "Demo`, and run `clarion demo --environment Demo`."
    )


async def _read_seeds(db: Connection, environment: Environment) -> dict[str, Rows]:
    """What the temporary store begins with."""
    return {
        "organizations": await read_rows(db, "organizations", "id", environment.organization_id),
        "environments": await read_rows(db, "environments", "id", environment.id),
        "integrations": await read_rows(db, "integrations", "environment_id", environment.id),
    }


async def _make_week(
    seeds: dict[str, Rows], environment: Environment, *, vault: Vault, until: Millis, author: Author
) -> dict[str, Rows]:
    """The rows of the environment after the week, by table."""
    with tempfile.TemporaryDirectory(prefix="clarion-demo-") as folder, _seeded_random():
        async with _open_temporary_store(Path(folder)) as database:
            await database.transaction(lambda db: _insert_all(db, seeds))
            await _run_week(database, environment, vault=vault, until=until, folder=Path(folder))
            return await database.transaction(lambda db: _read_week(db, environment, author))


async def _run_week(database: Database, environment: Environment, *, vault: Vault, until: Millis, folder: Path) -> None:
    clock = ManualClock(Millis(until - WEEK))
    vendors = Vendors(clock, list_outages(until), SEED)
    gateway = DemoGateway(vendors)
    application = build_application(Settings(data_dir=folder), database, vault, gateway, clock=clock)
    engine = Engine(database, clock=clock, vault=vault, bus=application.services.bus, gateway=gateway)
    waker = Waker(database, clock=clock, bus=application.services.bus)

    async def drain() -> None:
        while await waker.work():
            pass
        await engine.drain()

    request = KeyRequest(name="clarion demo")
    key = await database.transaction(
        lambda db: create_api_key(db, environment.id, request, vault=vault, now=clock.now())
    )
    api = DemoApi(application.asgi, key.text)
    await Week(database, environment.id, api=api, drain=drain, vendors=vendors).run_until(until)


@asynccontextmanager
async def _open_temporary_store(folder: Path) -> AsyncIterator[Database]:
    path = folder / "clarion.db"
    await asyncio.to_thread(create_sqlite, path)
    database = SqliteDatabase(path, is_durable=False)
    try:
        yield database
    finally:
        await database.close()


async def _insert_all(db: Connection, tables: dict[str, Rows]) -> None:
    for table, rows in tables.items():
        await insert_rows(db, table, rows)


async def _read_week(db: Connection, environment: Environment, author: Author) -> dict[str, Rows]:
    actor = author.actor
    for query in _SIGN:
        await db.execute(query, environment_id=environment.id, type=actor.type, name=actor.name)
    await db.execute(_SLOW_DOWN, environment_id=environment.id)
    return {table: await read_rows(db, table, "environment_id", environment.id) for table in _COPIED}


@contextmanager
def _seeded_random() -> Iterator[None]:
    """Retries draw their pauses from the generator of the process."""
    state = random.getstate()
    random.seed(SEED)
    try:
        yield
    finally:
        random.setstate(state)
