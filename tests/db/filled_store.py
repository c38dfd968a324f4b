"""A filled store: people with runs, messages, preferences and devices."""

import sqlite3
import uuid
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import asyncpg

from clarion.db.migrations.migrate import create_sqlite, migrate_postgres
from clarion.environments.model import hash_key

KEY = "the-key-of-a-filled-store"
PEOPLE = 40
NOW = 1_700_000_000_000

Rows = dict[str, list[dict[str, Any]]]


def new_id(kind: int, number: int = 0) -> bytes:
    """An id of version 7, the same each time."""
    return uuid.UUID(int=(NOW + number) << 80 | 0x7 << 76 | 0x2 << 62 | kind << 32 | number).bytes


ENVIRONMENT, WORKFLOW, VERSION, TOPIC, STEP = (new_id(kind) for kind in range(1, 6))


def make_rows() -> Rows:
    """Rows of the tables that hold what people and runs are about."""
    rows: Rows = {
        "organizations": [{"id": new_id(10), "name": "Filled", "created_at": NOW}],
        "environments": [_environment()],
        "api_keys": [
            _row(id=new_id(11), hash=hash_key(KEY), name="Key", hint="tore", scopes='["all"]', created_at=NOW)
        ],
        "integrations": [_integration()],
        "workflows": [_workflow()],
        "workflow_versions": [_version()],
        "topics": [_row(id=TOPIC, key="news", name=None, created_at=NOW, updated_at=NOW)],
    }
    for table in ("subscribers", "topic_subscriptions", "preferences", "subscriber_channels", "triggers"):
        rows[table] = []
    for table in ("notifications", "jobs", "messages"):
        rows[table] = []
    for number in range(PEOPLE):
        for table, row in _person(number):
            rows[table].append(row)
    return rows


def _row(**values: Any) -> dict[str, Any]:
    return {"environment_id": ENVIRONMENT, **values}


def _environment() -> dict[str, Any]:
    names = {"name": "Development", "kind": "dev", "identifier": "filled-app"}
    return {
        "id": ENVIRONMENT,
        "organization_id": new_id(10),
        "parent_id": None,
        "created_at": NOW,
        "updated_at": NOW,
    } | names


def _integration() -> dict[str, Any]:
    names = {"provider_id": "svc", "channel": "in_app", "name": "Inbox", "identifier": "inbox", "credentials": ""}
    flags = {"active": True, "is_primary": False, "priority": 0, "conditions": "[]"}
    return _row(id=new_id(12), created_at=NOW, updated_at=NOW, deleted_at=NOW, **names, **flags)


def _workflow() -> dict[str, Any]:
    names = {"key": "welcome", "name": "Welcome", "tags": "[]", "severity": "none"}
    return _row(id=WORKFLOW, active=True, version_id=VERSION, created_at=NOW, updated_at=NOW, **names)


def _version() -> dict[str, Any]:
    return _row(id=VERSION, workflow_id=WORKFLOW, number=1, steps="[]", validate_payload=False, created_at=NOW)


def _person(number: int) -> Iterator[tuple[str, dict[str, Any]]]:
    person, trigger, run, job = (new_id(kind, number) for kind in (20, 21, 22, 23))
    times = {"created_at": NOW, "updated_at": NOW}
    names = {
        "first_name": f"Ada {number}",
        "last_name": "Byron",
        "email": f"ada{number}@example.com",
        "is_online": number % 2 == 0,
    }
    yield "subscribers", _row(id=person, key=f"person-{number}", search_row=number + 1, **names, **times)
    yield "topic_subscriptions", _row(id=new_id(25, number), topic_id=TOPIC, subscriber_id=person, created_at=NOW)
    yield (
        "preferences",
        _row(subscriber_id=person, workflow_id=WORKFLOW, channel="email", enabled=False, updated_at=NOW),
    )
    device = {"integration_id": new_id(12), "provider_id": "fcm", "credentials": '{"deviceTokens": ["t"]}'}
    yield "subscriber_channels", _row(subscriber_id=person, created_at=NOW, **device)
    payload = {"payload": '{"n": 1}', "transaction_key": f"transaction-{number}"}
    yield "triggers", _row(id=trigger, workflow_id=WORKFLOW, version_id=VERSION, created_at=NOW, **payload)
    yield (
        "notifications",
        _row(
            id=run,
            trigger_id=trigger,
            workflow_id=WORKFLOW,
            version_id=VERSION,
            subscriber_id=person,
            step_types=1,
            status=3,
            **times,
        ),
    )
    yield "jobs", _row(id=job, notification_id=run, step=0, type="in_app", status="completed", details="[]", **times)
    of_run = {"notification_id": run, "job_id": job, "trigger_id": trigger, "workflow_id": WORKFLOW, "step_id": STEP}
    flags = {"seen": number % 2 == 0, "read": False, "archived": False}
    content = {"channel": "in_app", "status": "sent", "content": f"Hello {number} 'é'", "severity": "none"}
    message = new_id(24, number)
    yield "messages", _row(id=message, position=message, subscriber_id=person, **of_run, **flags, **content, **times)


def fill_sqlite(path: Path) -> Rows:
    """Make a store with these rows."""
    rows = make_rows()
    create_sqlite(path)
    with closing(sqlite3.connect(path)) as connection, connection:
        for table, of_table in rows.items():
            for row in of_table:
                places = ", ".join("?" * len(row))
                statement = f"INSERT INTO {table} ({', '.join(row)}) VALUES ({places})"
                connection.execute(statement, list(row.values()))
    return rows


async def fill_postgres(url: str) -> Rows:
    """Migrate an empty database, and insert these rows."""
    rows = make_rows()
    await migrate_postgres(url)
    connection = await asyncpg.connect(url)
    for table, of_table in rows.items():
        for row in of_table:
            values = {name: _for_postgres(value) for name, value in row.items()}
            await connection.copy_records_to_table(table, columns=list(values), records=[tuple(values.values())])
    await connection.close()
    return rows


def _for_postgres(value: Any) -> Any:
    return uuid.UUID(bytes=value) if isinstance(value, bytes) and len(value) == 16 else value
