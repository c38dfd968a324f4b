"""Fills a store of Clarion with as many people and messages as a long life would leave there.

Rows are made inside the database from their numbers, so that every table can be filled without asking another:
message `n` has the run, the job and the moment of the same number, and belongs to a trigger for a few people. One
trigger is a fan-out with a tenth of all messages, and the person number 0 has some two thousand messages.
"""

import asyncio
import json
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import asyncpg

from bench.systems import Site, System, start_clarion
from clarion.runs.notifications.model import step_mask
from clarion.vocabulary import StepType

_ROWS_A_COMMIT = 500_000
_START = 1_735_689_600_000  # 2025-01-01T00:00:00Z
_MILLISECONDS_A_ROW = 1_000
_RECIPIENTS = 4
_PEOPLE_STRIDE = 7_919  # without a common divisor with the number of people, so that each has their share
_BUSY_MESSAGES = 2_500  # of the person number 0, less those that the fan-out takes
_MIX = 2_654_435_761
_FIRST_NAMES = "Ada   Boris Chloe David Elena Farid Grace Hugo  Irina Jonas "
_SYLLABLES = "kalemirosutanevipodaguhofibezajoxucywe"
_TABLES = ("subscribers", "topic_subscriptions", "triggers", "notifications", "jobs", "messages")
# What sets the ids of one number and moment apart.
_TRIGGER, _RUN, _JOB, _MESSAGE, _SUBSCRIBER, _SUBSCRIPTION = range(6)

TOPIC = "everyone"
"""The key of a topic with all subscribers."""
UNUSED_CHANNEL = StepType.PUSH
"""A channel that no workflow has."""


@dataclass(frozen=True, slots=True)
class Size:
    messages: int
    subscribers: int

    @property
    def fan_out(self) -> range:
        """The messages of the one large trigger."""
        return range(self.messages // 10 * 4, self.messages // 10 * 5)

    @property
    def fan_out_transaction(self) -> str:
        return f"transaction-{self.fan_out.start // _RECIPIENTS}"


SMALL = Size(messages=10_000, subscribers=1_000)


def size_of(site: Site) -> Size:
    """Return the size of the large store: a person has ten messages."""
    messages = site.scaled(site.messages)
    return Size(messages=messages, subscribers=max(messages // 10, SMALL.subscribers))


@dataclass(frozen=True, slots=True)
class Kind:
    """A workflow of one step, and how many of a hundred triggers run it."""

    key: str
    step: StepType
    controls: dict[str, str]
    share: int


KINDS = (
    Kind("news", StepType.IN_APP, {"body": "News of {{payload.number}}"}, 50),
    Kind("comments", StepType.IN_APP, {"body": "A comment on {{payload.number}}"}, 15),
    Kind("receipts", StepType.EMAIL, {"subject": "Receipt", "body": "Order {{payload.number}}"}, 20),
    Kind("codes", StepType.SMS, {"body": "Your code is {{payload.number}}"}, 10),
    Kind("alerts", StepType.CHAT, {"body": "Alert {{payload.number}}"}, 5),
)


async def ensure_filled(kind: str, site: Site, name: str, size: Size) -> None:
    """Fill the store of this name, unless another workload of the same run has done it."""
    done = site.folder / f"{name}-{kind}.filled"
    if done.exists():
        return
    async with start_clarion(kind, site, name) as system:
        await _set_up(system)
    if system.database_url is None:
        await fill_sqlite(system.folder / "clarion.db", size)
    else:
        await fill_postgres(system.database_url, size)
    done.touch()


async def _set_up(system: System) -> None:
    """Make what is few through the API of the running system."""
    for kind in KINDS:
        step = {"name": kind.key, "type": kind.step, "controlValues": kind.controls}
        workflow = {"name": kind.key.title(), "workflowId": kind.key, "active": True, "steps": [step]}
        await system.request("POST", "/v2/workflows", workflow)
    await system.request("POST", "/v2/topics", {"key": TOPIC, "name": "Everyone"})


async def fill_sqlite(path: Path, size: Size) -> None:
    """Fill a store that is set up and that nobody has open."""
    with closing(_Sqlite(path)) as store:
        await _fill(store, size)


async def fill_postgres(url: str, size: Size) -> None:
    """Fill a database that is set up, and leave it as autovacuum leaves one that grew by itself."""
    connection = await asyncpg.connect(url)
    try:
        await connection.execute("SET synchronous_commit = off; SET maintenance_work_mem = '1GB'")
        await _fill(_Postgres(connection), size)
        await connection.execute("VACUUM (ANALYZE)")
    finally:
        await connection.close()


class _Store(Protocol):
    """A database while it is being filled, and what its SQL calls things."""

    definitions: str
    """A query for what slows inserts down: how to remove it, how to make it again."""

    async def run(self, statement: str) -> None: ...

    async def fetch(self, statement: str) -> Sequence[Sequence[Any]]: ...

    def id(self, head: str, tail: str) -> str:
        """The id whose halves are the given numbers."""
        ...

    def literal(self, value: Any) -> str: ...

    def numbers(self, first: int, last: int) -> str:
        """A source of rows with the column `n`."""
        ...

    @property
    def text_index(self) -> str | None:
        """How to fill the index of texts, where it does not fill itself."""
        ...


class _Sqlite:
    definitions = """
        SELECT 'DROP ' || type || ' ' || name, sql FROM sqlite_master
        WHERE type IN ('index', 'trigger') AND sql IS NOT NULL ORDER BY rowid
    """
    text_index = """
        INSERT INTO subscriber_search (rowid, email, phone, full_name)
        SELECT search_row, lower(email), phone, full_name FROM subscribers
    """

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.create_function("unhex", 1, bytes.fromhex, deterministic=True)
        for setting in ("journal_mode = OFF", "synchronous = OFF", "cache_size = -1000000"):
            self._connection.execute(f"PRAGMA {setting}")

    async def run(self, statement: str) -> None:
        self._connection.execute(statement)

    async def fetch(self, statement: str) -> Sequence[Sequence[Any]]:
        return self._connection.execute(statement).fetchall()

    def id(self, head: str, tail: str) -> str:
        return f"unhex(printf('%016x8%015x', {head}, {tail}))"

    def literal(self, value: Any) -> str:
        return f"X'{value.hex()}'"

    def numbers(self, first: int, last: int) -> str:
        return f"""
            (WITH RECURSIVE counted(n) AS (SELECT {first} UNION ALL SELECT n + 1 FROM counted WHERE n < {last})
            SELECT n FROM counted)
        """

    def close(self) -> None:
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.close()


class _Postgres:
    definitions = f"""
        SELECT 'DROP INDEX ' || indexname, indexdef FROM pg_indexes
        WHERE indexname NOT LIKE '%_pkey' AND tablename IN {_TABLES}
    """
    text_index = None

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    async def run(self, statement: str) -> None:
        await self._connection.execute(statement)

    async def fetch(self, statement: str) -> Sequence[Sequence[Any]]:
        rows: Sequence[Sequence[Any]] = await self._connection.fetch(statement)
        return rows

    def id(self, head: str, tail: str) -> str:
        return f"CAST(lpad(to_hex({head}), 16, '0') || '8' || lpad(to_hex({tail}), 15, '0') AS uuid)"

    def literal(self, value: Any) -> str:
        return f"CAST('{value}' AS uuid)"

    def numbers(self, first: int, last: int) -> str:
        return f"(SELECT generate_series({first}::bigint, {last}::bigint) AS n)"


async def _fill(store: _Store, size: Size) -> None:
    found = await store.fetch(store.definitions)
    for removal, _ in found:
        await store.run(removal)
    rows = _Rows(store, size, await _read_place(store))
    for table in _TABLES:
        count, select = rows.of(table)
        for first in range(0, count, _ROWS_A_COMMIT):
            source = store.numbers(first, min(first + _ROWS_A_COMMIT, count) - 1)
            await asyncio.sleep(0)  # The run can be cut here.
            await store.run(f"INSERT INTO {table} {select.replace('FROM numbers', f'FROM {source} AS numbers')}")
    if store.text_index is not None:
        await store.run(store.text_index)
    for _, definition in found:
        await store.run(definition)


@dataclass(frozen=True, slots=True)
class _Place:
    """What the rows refer to, as SQL."""

    environment: str
    topic: str
    workflows: dict[str, tuple[str, str, str]]
    """Workflow, version and step by key."""


async def _read_place(store: _Store) -> _Place:
    ((environment, topic),) = await store.fetch("SELECT environment_id, id FROM topics")
    workflows = await store.fetch("""
        SELECT w.key, w.id, v.id, v.steps FROM workflows AS w
        JOIN workflow_versions AS v ON v.environment_id = w.environment_id AND v.id = w.version_id
    """)
    return _Place(
        environment=store.literal(environment),
        topic=store.literal(topic),
        workflows={
            key: (store.literal(workflow), store.literal(version), _step_id(store, steps))
            for key, workflow, version, steps in workflows
        },
    )


def _step_id(store: _Store, steps: str) -> str:
    number = int(json.loads(steps)[0]["id"].replace("-", ""), 16)
    return store.id(str(number >> 64), str(number & (1 << 60) - 1))


class _Rows:
    """The SELECT of every table's rows; `n` is the number of a row, `FROM numbers` where numbers come from."""

    def __init__(self, store: _Store, size: Size, place: _Place) -> None:
        self._store = store
        self._size = size
        self._place = place
        fan_out = size.fan_out
        self._is_fan_out = f"n BETWEEN {fan_out.start} AND {fan_out.stop - 1}"
        trigger = f"(CASE WHEN {self._is_fan_out} THEN {fan_out.start // _RECIPIENTS} ELSE n / {_RECIPIENTS} END)"
        self._trigger = trigger
        self._slot = _slot(trigger)
        every = size.messages // _BUSY_MESSAGES
        busy = f"n % {every} = 0 AND NOT ({self._is_fan_out})"
        self._subscriber = f"(CASE WHEN {busy} THEN 0 ELSE n * {_PEOPLE_STRIDE} % {size.subscribers} END)"
        # What varies from message to message varies for the busy person too, whose numbers are all multiples.
        self._turn = f"(CASE WHEN {busy} THEN n / {every} ELSE n END)"

    def of(self, table: str) -> tuple[int, str]:
        """How many numbers make the rows of a table, and the query that makes them."""
        counts = {
            "subscribers": self._size.subscribers,
            "topic_subscriptions": self._size.subscribers,
            "triggers": self._size.messages // _RECIPIENTS,
        }
        make: Callable[[], str] = getattr(self, table)
        return counts.get(table, self._size.messages), make()

    def subscribers(self) -> str:
        first = f"trim({_part(_FIRST_NAMES, width=6, shift=8)})"
        last = " || ".join(_part(_SYLLABLES, width=2, shift=shift) for shift in (12, 17, 22, 27))
        return f"""
            (environment_id, id, key, first_name, last_name, email, phone, is_online, created_at, updated_at,
            search_row)
            SELECT {self._place.environment}, {self._id(_SUBSCRIBER)}, 'person-' || n, {first},
                upper(substr({last}, 1, 1)) || substr({last}, 2),
                lower({first}) || '.' || {last} || '.' || n || '@example' || (n % 50) || '.com',
                '+1555' || (1000000 + n), FALSE, {_START} + n, {_START} + n, n + 1
            FROM numbers
        """

    def topic_subscriptions(self) -> str:
        return f"""
            (environment_id, id, topic_id, subscriber_id, created_at)
            SELECT {self._place.environment}, {self._id(_SUBSCRIPTION)}, {self._place.topic}, {self._id(_SUBSCRIBER)},
                {_START} + n
            FROM numbers
        """

    def triggers(self) -> str:
        first, last = (number // _RECIPIENTS for number in (self._size.fan_out.start, self._size.fan_out.stop - 1))
        slot = _slot("n")
        return f"""
            (environment_id, id, transaction_key, workflow_id, version_id, payload, created_at)
            SELECT {self._place.environment}, {self._id(_TRIGGER, scale=_RECIPIENTS)}, 'transaction-' || n,
                {self._chosen(slot, 0)}, {self._chosen(slot, 1)}, '{{"number":' || n || '}}',
                {_moment(f"n * {_RECIPIENTS}")}
            FROM numbers WHERE n <= {first} OR n > {last}
        """

    def notifications(self) -> str:
        types = _case(self._slot, [(kind, str(step_mask([kind.step]))) for kind in KINDS])
        return f"""
            (environment_id, id, trigger_id, workflow_id, version_id, subscriber_id, step_types, created_at, updated_at)
            SELECT {self._place.environment}, {self._id(_RUN)}, {self._trigger_id}, {self._chosen(self._slot, 0)},
                {self._chosen(self._slot, 1)}, {self._id(_SUBSCRIBER, self._subscriber)}, {types}, {_moment("n")},
                {_moment("n")}
            FROM numbers
        """

    def jobs(self) -> str:
        texts = ("Step queued", "Message created", "Integration instance selected", "Message sent")
        details = ",".join(
            f'{{"id":"019420a0-0000-7000-8000-00000000000{place}","at":MOMENT,"status":"Success","detail":"{text}"}}'
            for place, text in enumerate(texts)
        )
        details = "'[" + details.replace("MOMENT", f"' || {_moment('n')} || '") + "]'"
        return f"""
            (environment_id, id, notification_id, step, type, status, provider_id, details, created_at, updated_at)
            SELECT {self._place.environment}, {self._id(_JOB)}, {self._id(_RUN)}, 0, {self._channel}, 'completed',
                'svc', {details}, {_moment("n")}, {_moment("n")}
            FROM numbers
        """

    def messages(self) -> str:
        moment, is_seen, is_read = _moment("n"), f"{self._turn} % 10 < 7", f"{self._turn} % 10 < 5"
        return f"""
            (environment_id, id, notification_id, job_id, trigger_id, workflow_id, step_id, subscriber_id, channel,
            provider_id, status, content, severity, seen, read, archived, seen_at, read_at, created_at, updated_at)
            SELECT {self._place.environment}, {self._id(_MESSAGE)}, {self._id(_RUN)}, {self._id(_JOB)},
                {self._trigger_id}, {self._chosen(self._slot, 0)}, {self._chosen(self._slot, 2)},
                {self._id(_SUBSCRIBER, self._subscriber)}, {self._channel}, 'svc', 'sent', 'News of number ' || n,
                'none', {is_seen}, {is_read}, {self._turn} % 50 = 0, CASE WHEN {is_seen} THEN {moment} END,
                CASE WHEN {is_read} THEN {moment} END, {moment}, {moment}
            FROM numbers
        """

    @property
    def _trigger_id(self) -> str:
        return self._id(_TRIGGER, self._trigger, scale=_RECIPIENTS)

    @property
    def _channel(self) -> str:
        return _case(self._slot, [(kind, f"'{kind.step}'") for kind in KINDS])

    def _chosen(self, slot: str, part: int) -> str:
        return _case(slot, [(kind, self._place.workflows[kind.key][part]) for kind in KINDS])

    def _id(self, kind: int, number: str = "n", *, scale: int = 1) -> str:
        """A time-ordered id; people are older than whatever is sent to them."""
        is_person = kind in (_SUBSCRIBER, _SUBSCRIPTION)
        moment = f"({_START} - 10000000 + {number})" if is_person else _moment(f"{number} * {scale}")
        return self._store.id(f"({moment} << 16 | {0x7000 | kind})", f"({number} * {_MIX} + {kind})")


def _part(texts: str, *, width: int, shift: int) -> str:
    """One of the texts of equal width that stand one after the other."""
    place = f"CAST((n * {_MIX} >> {shift}) % {len(texts) // width} AS integer)"
    return f"substr('{texts}', {width} * {place} + 1, {width})"


def _slot(trigger: str) -> str:
    return f"(({trigger} * {_MIX} >> 16) % 100)"


def _moment(number: str) -> str:
    return f"({_START} + {number} * {_MILLISECONDS_A_ROW})"


def _case(slot: str, choices: list[tuple[Kind, str]]) -> str:
    """The value of the workflow that a slot of a hundred belongs to."""
    bound, cases = 0, []
    for kind, value in choices:
        bound += kind.share
        cases.append(f"WHEN {slot} < {bound} THEN {value}")
    return f"CASE {' '.join(cases)} END"
