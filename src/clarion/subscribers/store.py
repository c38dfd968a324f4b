"""SQL of subscribers."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from clarion.clock import Millis
from clarion.db.port import Connection, Row
from clarion.db.query import sql
from clarion.errors import NotFound, StoreUnavailable
from clarion.ids import EnvironmentId, SubscriberId, SubscriberKey, new_id
from clarion.jsontext import json_text, json_value
from clarion.subscribers.model import CONTACT_FIELDS, Subscriber, changed_fields

COLUMNS = """
    t.environment_id, t.id, t.key, t.first_name, t.last_name, t.email, t.phone, t.avatar, t.locale, t.timezone,
    t.data, t.schedule, t.is_online, t.last_online_at, t.version, t.created_at, t.updated_at
"""
"""In the order of the fields of Subscriber."""
_JSON_COLUMNS = ("data", "schedule")

FIND_SUBSCRIBER = sql(f"""
    SELECT {COLUMNS} FROM subscribers AS t WHERE t.environment_id = :environment_id AND t.key = :key
""")
FIND_SUBSCRIBER_FOR_UPDATE = sql(f"""
    SELECT {COLUMNS} FROM subscribers AS t WHERE t.environment_id = :environment_id AND t.key = :key {{for_update}}
""")
LIST_SUBSCRIBERS_BY_KEY = sql(f"""
    SELECT {COLUMNS} FROM subscribers AS t WHERE t.environment_id = :environment_id AND t.key {{any:keys}}
""")
LIST_SUBSCRIBERS_BY_ID = sql(f"""
    SELECT {COLUMNS} FROM subscribers AS t WHERE t.environment_id = :environment_id AND t.id {{any:ids}}
""")
INSERT_SUBSCRIBER = sql("""
    INSERT INTO subscribers (
        environment_id, id, key, first_name, last_name, email, phone, avatar, locale, timezone, data,
        is_online, created_at, updated_at, search_row
    ) VALUES (
        :environment_id, :id, :key, :first_name, :last_name, :email, :phone, :avatar, :locale, :timezone, :data,
        FALSE, :now, :now, (SELECT COALESCE(MAX(search_row), 0) + 1 FROM subscribers)
    )
    ON CONFLICT (environment_id, key) DO NOTHING
    RETURNING id
""")

COUNT_UNPROVEN = sql("""
    SELECT count(*) AS found FROM (
        SELECT 1 FROM subscribers WHERE environment_id = :environment_id AND is_unproven LIMIT :limit
    ) AS unproven
""")
MARK_UNPROVEN = sql("""
    UPDATE subscribers SET is_unproven = TRUE WHERE environment_id = :environment_id AND key = :key
""")


async def find_subscriber(
    db: Connection, environment_id: EnvironmentId, key: SubscriberKey, *, for_update: bool = False
) -> Subscriber | None:
    query = FIND_SUBSCRIBER_FOR_UPDATE if for_update else FIND_SUBSCRIBER
    row = await db.fetch_one(query, environment_id=environment_id, key=key)
    return None if row is None else subscriber_of(row)


async def get_subscriber(
    db: Connection, environment_id: EnvironmentId, key: SubscriberKey, *, for_update: bool = False
) -> Subscriber:
    subscriber = await find_subscriber(db, environment_id, key, for_update=for_update)
    if subscriber is None:
        raise NotFound("Subscriber", key)
    return subscriber


async def list_subscribers_by_id(
    db: Connection, environment_id: EnvironmentId, ids: Iterable[SubscriberId]
) -> dict[SubscriberId, Subscriber]:
    """Return the given subscribers that exist, by id."""
    rows = await db.fetch_values(LIST_SUBSCRIBERS_BY_ID, environment_id=environment_id, ids=list(dict.fromkeys(ids)))
    return {one.id: one for one in map(_read_subscriber, rows)}


async def list_subscribers_by_key(
    db: Connection, environment_id: EnvironmentId, keys: Iterable[SubscriberKey]
) -> dict[SubscriberKey, Subscriber]:
    """Return the given subscribers that exist, by key."""
    rows = await db.fetch_values(LIST_SUBSCRIBERS_BY_KEY, environment_id=environment_id, keys=list(dict.fromkeys(keys)))
    return {one.key: one for one in map(_read_subscriber, rows)}


async def ensure_subscribers(
    db: Connection, environment_id: EnvironmentId, keys: Iterable[SubscriberKey], now: Millis
) -> dict[SubscriberKey, Subscriber]:
    """Return subscribers by key, creating the missing ones; in key order, so that two callers cannot deadlock."""
    wanted = sorted(set(keys))
    if not wanted:
        return {}
    known = await list_subscribers_by_key(db, environment_id, wanted)
    missing = [key for key in wanted if key not in known]
    if not missing:
        return known
    empty = dict.fromkeys(CONTACT_FIELDS)
    rows = [{"environment_id": environment_id, "id": new_id(now), "key": key, "now": now, **empty} for key in missing]
    await db.execute_many(INSERT_SUBSCRIBER, rows)
    return known | await list_subscribers_by_key(db, environment_id, missing)


async def upsert_subscriber(
    db: Connection, environment_id: EnvironmentId, key: SubscriberKey, fields: Mapping[str, Any], now: Millis
) -> tuple[Subscriber, bool]:
    """Create the subscriber or change the given fields; returns it and whether it was created.

    The unique index decides between concurrent creations of one key: one inserts, the others update its row.
    """
    for _ in range(3):
        if await insert_subscriber(db, environment_id, key, fields, now):
            return await get_subscriber(db, environment_id, key), True
        subscriber = await find_subscriber(db, environment_id, key, for_update=True)
        if subscriber is not None:
            return await update_subscriber(db, subscriber, fields, now), False
    raise StoreUnavailable(f"Subscriber '{key}' keeps being created and deleted")


async def insert_subscriber(
    db: Connection,
    environment_id: EnvironmentId,
    key: SubscriberKey,
    fields: Mapping[str, Any],
    now: Millis,
    *,
    is_unproven: bool = False,
) -> bool:
    """Create the subscriber; returns False if the key is taken.

    `is_unproven` says that nothing proves that the application knows them.
    """
    row = await db.fetch_one(
        INSERT_SUBSCRIBER,
        environment_id=environment_id,
        id=new_id(now),
        key=key,
        now=now,
        **_stored({name: fields.get(name) for name in CONTACT_FIELDS}),
    )
    if row is not None and is_unproven:
        await db.execute(MARK_UNPROVEN, environment_id=environment_id, key=key)
    return row is not None


async def count_unproven(db: Connection, environment_id: EnvironmentId, *, limit: int) -> int:
    """Count the subscribers that nothing but sessions without proof know, up to the limit."""
    row = await db.fetch_one(COUNT_UNPROVEN, environment_id=environment_id, limit=limit)
    return 0 if row is None else int(row["found"])


async def update_subscriber(
    db: Connection, subscriber: Subscriber, fields: Mapping[str, Any], now: Millis, *, is_proven: bool = True
) -> Subscriber:
    """Write the fields that differ; without any, version and `updated_at` stay as they are.

    `is_proven` says that the application or the person, with proof, writes them.
    """
    changed = changed_fields(subscriber, fields)
    if not changed:
        return subscriber
    assignments = ", ".join(
        [*(f"{name} = :{name}" for name in changed), *(["is_unproven = FALSE"] if is_proven else [])]
    )
    await db.execute(
        sql(f"""
            UPDATE subscribers SET {assignments}, version = version + 1, updated_at = :now
            WHERE environment_id = :environment_id AND id = :id
        """),
        environment_id=subscriber.environment_id,
        id=subscriber.id,
        now=now,
        **_stored(changed),
    )
    return await get_subscriber(db, subscriber.environment_id, subscriber.key)


def subscriber_of(row: Row) -> Subscriber:
    """The subscriber of a row that begins with COLUMNS."""
    return _read_subscriber(tuple(row.values()))


def _read_subscriber(values: Sequence[Any]) -> Subscriber:
    data, schedule, is_online = values[10:13]
    read = (json_value(data), json_value(schedule), None if is_online is None else bool(is_online))
    return Subscriber(*(*values[:10], *read, *values[13:17]))


def _stored(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: json_text(value) if name in _JSON_COLUMNS and value is not None else value
        for name, value in fields.items()
    }
