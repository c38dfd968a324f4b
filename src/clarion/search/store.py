"""SQL of what is found by words: each part reads a bounded number of rows."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

from clarion.db.port import Connection, Dialect, Row
from clarion.db.query import Query, sql
from clarion.ids import EnvironmentId, id_text
from clarion.jsontext import json_value
from clarion.search.model import Hit, SearchText, SearchType, rank
from clarion.subscribers.lookup import find_people, list_forms

MAX_CONFIGURED = 5_000
"""An environment has few workflows, integrations and endpoints."""
MAX_TOPICS = 2_000
"""Names of topics are searched in the newest ones; keys are searched in all by their beginning."""

LIST_WORKFLOWS = sql("""
    SELECT id, key, name, tags FROM workflows
    WHERE environment_id = :environment_id AND deleted_at IS NULL ORDER BY id DESC LIMIT :limit
""")
LIST_INTEGRATIONS = sql("""
    SELECT id, name, identifier, provider_id, channel FROM integrations
    WHERE environment_id = :environment_id AND deleted_at IS NULL ORDER BY id DESC LIMIT :limit
""")
LIST_ENDPOINTS = sql("""
    SELECT id, url, description FROM webhook_endpoints
    WHERE environment_id = :environment_id ORDER BY id DESC LIMIT :limit
""")
LIST_WORKFLOW_NAMES = sql("SELECT id, name FROM workflows WHERE environment_id = :environment_id AND id {any:ids}")


def beginning_query(table: str, column: str, columns: str, forms: int) -> Query:
    """SQL: read an index from each form of a text on; what begins with it comes next, in every collation."""
    walks = [
        f"""
        SELECT * FROM (
            SELECT {columns} FROM {table} AS t
            WHERE t.environment_id = :environment_id AND t.{column} >= :form_{number}
            ORDER BY t.{column} LIMIT :limit
        ) AS walk_{number}
        """
        for number in range(forms)
    ]
    return sql(" UNION ALL ".join(walks))


def topic_query(dialect: Dialect) -> Query:
    """SQL: the newest topics whose name has a word, in any case as far as ASCII goes."""
    collation = "" if dialect is Dialect.SQLITE else ' COLLATE "C"'
    return sql(f"""
        SELECT id, key, name FROM (
            SELECT t.id, t.key, t.name FROM topics AS t
            WHERE t.environment_id = :environment_id ORDER BY t.id DESC LIMIT :most
        ) AS newest
        WHERE {{position}}(lower(name{collation}), :folded) > 0 OR {{position}}(name, :text) > 0 LIMIT :limit
    """)


async def find_subscribers(
    db: Connection, environment_id: EnvironmentId, wanted: SearchText, *, limit: int
) -> list[Hit]:
    """Find people by the beginning of their subscriberId, and by e-mail address, phone number and name."""
    rows = await find_people(db, environment_id, wanted.text, limit=limit)
    return _best((_person(row, wanted) for row in rows), limit)


async def find_workflows(db: Connection, environment_id: EnvironmentId, wanted: SearchText, *, limit: int) -> list[Hit]:
    """Find workflows by name, identifier and tags."""
    rows = await db.fetch(LIST_WORKFLOWS, environment_id=environment_id, limit=MAX_CONFIGURED)
    hits = []
    for row in rows:
        tags = {f"tags.{number}": tag for number, tag in enumerate(json_value(row["tags"]))}
        fields = {"workflowId": row["key"], "name": row["name"], **tags}
        hits.append(_hit(SearchType.WORKFLOW, row, wanted, fields, (row["key"], row["name"], row["key"])))
    return _best(hits, limit)


async def find_topics(db: Connection, environment_id: EnvironmentId, wanted: SearchText, *, limit: int) -> list[Hit]:
    """Find topics by the beginning of their key, and the newest ones by name."""
    rows = [
        *await _walk(db, environment_id, ("topics", "key", "t.id, t.key, t.name"), wanted, limit),
        *await db.fetch(
            topic_query(db.dialect),
            environment_id=environment_id,
            folded=max(wanted.words, key=len),
            text=max(wanted.text.split(), key=len),
            most=MAX_TOPICS,
            limit=10 * limit,
        ),
    ]
    hits = []
    for row in rows:
        fields = {"key": row["key"], "name": row["name"]}
        hits.append(_hit(SearchType.TOPIC, row, wanted, fields, (row["key"], row["name"] or row["key"], row["key"])))
    return _best(hits, limit)


async def find_integrations(
    db: Connection, environment_id: EnvironmentId, wanted: SearchText, *, limit: int
) -> list[Hit]:
    """Find integrations by name, identifier, provider and channel."""
    rows = await db.fetch(LIST_INTEGRATIONS, environment_id=environment_id, limit=MAX_CONFIGURED)
    hits = []
    for row in rows:
        fields = {name: row[column] for name, column in _INTEGRATION.items()}
        shown = (id_text(row["id"]), row["name"], row["identifier"])
        hits.append(_hit(SearchType.INTEGRATION, row, wanted, fields, shown))
    return _best(hits, limit)


async def find_endpoints(db: Connection, environment_id: EnvironmentId, wanted: SearchText, *, limit: int) -> list[Hit]:
    """Find endpoints of webhooks by URL and description."""
    rows = await db.fetch(LIST_ENDPOINTS, environment_id=environment_id, limit=MAX_CONFIGURED)
    hits = []
    for row in rows:
        fields = {"url": row["url"], "description": row["description"]}
        shown = (id_text(row["id"]), row["url"], row["description"])
        hits.append(_hit(SearchType.WEBHOOK_ENDPOINT, row, wanted, fields, shown))
    return _best(hits, limit)


async def find_transactions(
    db: Connection, environment_id: EnvironmentId, wanted: SearchText, *, limit: int
) -> list[Hit]:
    """Find triggers by the beginning of their transactionId."""
    columns = "t.id, t.transaction_key, t.workflow_id"
    rows = await _walk(db, environment_id, ("triggers", "transaction_key", columns), wanted, limit)
    rows = [row for row in rows if row["transaction_key"].lower().startswith(wanted.folded)]
    ids = list({row["workflow_id"] for row in rows})
    named = await db.fetch(LIST_WORKFLOW_NAMES, environment_id=environment_id, ids=ids) if ids else ()
    names = {row["id"]: row["name"] for row in named}
    hits = []
    for row in rows:
        key = row["transaction_key"]
        shown = (key, key, names.get(row["workflow_id"]))
        hits.append(_hit(SearchType.TRANSACTION, row, wanted, {"transactionId": key}, shown))
    return _best(hits, limit)


Find = Callable[..., Awaitable[list[Hit]]]
PARTS: Mapping[SearchType, Find] = {
    SearchType.SUBSCRIBER: find_subscribers,
    SearchType.WORKFLOW: find_workflows,
    SearchType.TOPIC: find_topics,
    SearchType.INTEGRATION: find_integrations,
    SearchType.WEBHOOK_ENDPOINT: find_endpoints,
    SearchType.TRANSACTION: find_transactions,
}
"""What is found by words."""

_INTEGRATION = {"identifier": "identifier", "name": "name", "providerId": "provider_id", "channel": "channel"}


async def _walk(
    db: Connection, environment_id: EnvironmentId, place: tuple[str, str, str], wanted: SearchText, limit: int
) -> Sequence[Row]:
    table, column, columns = place
    forms = list_forms(wanted.text)
    bound = {f"form_{number}": form for number, form in enumerate(forms)}
    query = beginning_query(table, column, columns, len(forms))
    return await db.fetch(query, environment_id=environment_id, limit=limit, **bound)


def _person(row: Row, wanted: SearchText) -> Hit | None:
    fields = {"subscriberId": row["key"], "email": row["email"], "phone": row["phone"], "name": row["full_name"]}
    title = row["full_name"] or row["key"]
    subtitle = row["email"] or row["phone"] or (row["key"] if row["full_name"] else None)
    return _hit(SearchType.SUBSCRIBER, row, wanted, fields, (row["key"], title, subtitle))


def _hit(
    kind: SearchType,
    row: Row,
    wanted: SearchText,
    fields: Mapping[str, str | None],
    shown: tuple[str, str, str | None],
) -> Hit | None:
    """Return the hit with its reference, title and subtitle, if one of the fields matches."""
    match = wanted.match(fields)
    if match is None:
        return None
    reference, title, subtitle = shown
    return Hit(type=kind, id=row["id"], reference=reference, title=title, subtitle=subtitle, match=match)


def _best(hits: Iterable[Hit | None], limit: int) -> list[Hit]:
    return rank((one for one in hits if one is not None), limit=limit)
