"""SQL of a search: what is found by words, each part in a bounded number of rows, and what an id names."""

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping

from clarion.db.port import Connection, Dialect, Row
from clarion.db.query import Query, sql
from clarion.ids import EnvironmentId, find_id, id_text
from clarion.jsontext import json_value
from clarion.search.model import Hit, Match, MatchKind, Parent, SearchText, SearchType, rank
from clarion.subscribers.search import IndexedTexts, find_by_beginning, find_people
from clarion.workflows.model import find_workflow_id

MAX_CONFIGURED = 5_000
"""An environment has few workflows, integrations and endpoints."""
MAX_TOPICS = 2_000
"""Names of topics are searched in the newest ones; keys are searched in all by their beginning."""

TOPICS = IndexedTexts("topics", ("key",), "t.id, t.key, t.name")
TRIGGERS = IndexedTexts("triggers", ("transaction_key",), "t.id, t.transaction_key, t.workflow_id")
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

_NAMED = "COALESCE(NULLIF(t.full_name, ''), t.key)"
_LOOK_UPS: Mapping[SearchType, tuple[str, str, str, str]] = {
    # how paths name it (NULL: by the id), title, subtitle, tables
    SearchType.SUBSCRIBER: ("t.key", _NAMED, "t.email", "subscribers AS t"),
    SearchType.WORKFLOW: ("t.key", "t.name", "t.key", "workflows AS t"),
    SearchType.TOPIC: ("t.key", "COALESCE(t.name, t.key)", "t.key", "topics AS t"),
    SearchType.INTEGRATION: ("NULL", "t.name", "t.identifier", "integrations AS t"),
    SearchType.WEBHOOK_ENDPOINT: ("NULL", "t.url", "t.description", "webhook_endpoints AS t"),
    SearchType.TRANSACTION: (
        "t.transaction_key",
        "t.transaction_key",
        "w.name",
        "triggers AS t LEFT JOIN workflows AS w ON w.environment_id = t.environment_id AND w.id = t.workflow_id",
    ),
    SearchType.NOTIFICATION: (
        "NULL",
        "w.name",
        "s.key",
        """
        notifications AS t
        LEFT JOIN workflows AS w ON w.environment_id = t.environment_id AND w.id = t.workflow_id
        LEFT JOIN subscribers AS s ON s.environment_id = t.environment_id AND s.id = t.subscriber_id
        """,
    ),
    SearchType.JOB: ("NULL", "t.type", "t.status", "jobs AS t"),
    SearchType.MESSAGE: (
        "NULL",
        "COALESCE(t.subject, t.title, t.channel)",
        "s.key",
        "messages AS t LEFT JOIN subscribers AS s ON s.environment_id = t.environment_id AND s.id = t.subscriber_id",
    ),
    SearchType.WORKFLOW_VERSION: (
        "NULL",
        "w.name",
        "CAST(t.number AS text)",
        """
        workflow_versions AS t
        LEFT JOIN workflows AS w ON w.environment_id = t.environment_id AND w.id = t.workflow_id
        """,
    ),
    SearchType.SUBSCRIPTION: (
        "NULL",
        "o.key",
        "s.key",
        """
        topic_subscriptions AS t
        LEFT JOIN topics AS o ON o.environment_id = t.environment_id AND o.id = t.topic_id
        LEFT JOIN subscribers AS s ON s.environment_id = t.environment_id AND s.id = t.subscriber_id
        """,
    ),
    SearchType.WEBHOOK_EVENT: ("NULL", "t.type", "NULL", "webhook_events AS t"),
    SearchType.WEBHOOK_DELIVERY: ("NULL", "t.status", "NULL", "webhook_deliveries AS t"),
    SearchType.API_KEY: ("NULL", "t.name", "t.hint", "api_keys AS t"),
    SearchType.AUDIT_ENTRY: ("NULL", "t.action", "t.target_name", "audit_entries AS t"),
}
_PARENTS: Mapping[SearchType, tuple[SearchType, str, str]] = {
    # what it belongs to, the key of that, its id
    SearchType.JOB: (SearchType.NOTIFICATION, "NULL", "t.notification_id"),
    SearchType.MESSAGE: (SearchType.NOTIFICATION, "NULL", "t.notification_id"),
    SearchType.WORKFLOW_VERSION: (SearchType.WORKFLOW, "w.key", "t.workflow_id"),
    SearchType.SUBSCRIPTION: (SearchType.TOPIC, "o.key", "t.topic_id"),
    SearchType.WEBHOOK_DELIVERY: (SearchType.WEBHOOK_ENDPOINT, "NULL", "t.endpoint_id"),
}
FIND_BY_PROVIDER_ID = sql("""
    SELECT t.id, COALESCE(t.subject, t.title, t.channel) AS title, s.key AS subtitle, NULL AS reference,
        NULL AS parent_key, t.notification_id AS parent_id
    FROM messages AS t
    LEFT JOIN subscribers AS s ON s.environment_id = t.environment_id AND s.id = t.subscriber_id
    WHERE t.environment_id = :environment_id AND t.provider_message_id = :text LIMIT :limit
""")


def topic_query(dialect: Dialect) -> Query:
    """SQL: the newest topics whose name has a word, in any case as far as ASCII goes."""
    collation = "" if dialect is Dialect.SQLITE else ' COLLATE "C"'
    return sql(f"""
        SELECT id, key, name FROM (
            SELECT t.id, t.key, t.name FROM topics AS t
            WHERE t.environment_id = :environment_id ORDER BY t.id DESC LIMIT :newest
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
        *await find_by_beginning(db, environment_id, wanted.text, TOPICS, limit=limit),
        *await db.fetch(
            topic_query(db.dialect),
            environment_id=environment_id,
            folded=max(wanted.words, key=len),
            text=max(wanted.text.split(), key=len),
            newest=MAX_TOPICS,
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
    rows = await find_by_beginning(db, environment_id, wanted.text, TRIGGERS, limit=limit)
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


async def find_by_id(
    db: Connection, environment_id: EnvironmentId, text: str, types: Collection[SearchType]
) -> list[Hit]:
    """Find what has this id, if the text is one; the slug of a workflow has its id."""
    id_ = find_id(text.lower()) or find_workflow_id(text)
    wanted = [kind for kind in _LOOK_UPS if kind in types]
    if id_ is None or not wanted:
        return []
    rows = await db.fetch(id_query(tuple(wanted)), environment_id=environment_id, id=id_)
    return [_hit_of_id(row, SearchType(row["type"]), id_, Match("_id", MatchKind.EXACT)) for row in rows]


async def find_by_provider_id(db: Connection, environment_id: EnvironmentId, text: str, *, limit: int) -> list[Hit]:
    """Find messages by the id that their provider gave them."""
    rows = await db.fetch(FIND_BY_PROVIDER_ID, environment_id=environment_id, text=text, limit=limit)
    match = Match("providerMessageId", MatchKind.EXACT)
    return [_hit_of_id(row, SearchType.MESSAGE, row["id"], match) for row in rows]


def id_query(types: tuple[SearchType, ...]) -> Query:
    """SQL: the rows of an id, with what a result shows of them."""
    selects = []
    for kind in types:
        reference, title, subtitle, tables = _LOOK_UPS[kind]
        # A NULL of the type of ids, which PostgreSQL has to know.
        _, parent_key, parent_id = _PARENTS.get(kind, (None, "NULL", "NULLIF(t.id, t.id)"))
        selects.append(f"""
            SELECT '{kind}' AS type, CAST({reference} AS text) AS reference, CAST({title} AS text) AS title,
                CAST({subtitle} AS text) AS subtitle, CAST({parent_key} AS text) AS parent_key,
                {parent_id} AS parent_id
            FROM {tables} WHERE t.environment_id = :environment_id AND t.id = :id
        """)
    return sql(" UNION ALL ".join(selects))


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


def _hit_of_id(row: Row, kind: SearchType, id_: bytes, match: Match) -> Hit:
    text = id_text(id_)
    return Hit(
        type=kind,
        id=id_,
        reference=row["reference"] or text,
        title=row["title"] or text,
        subtitle=row["subtitle"],
        match=match,
        parent=_parent(row, kind),
    )


def _parent(row: Row, kind: SearchType) -> Parent | None:
    if kind not in _PARENTS or row["parent_id"] is None:
        return None
    return Parent(type=_PARENTS[kind][0], reference=row["parent_key"] or id_text(row["parent_id"]))
