"""Finds what an id names: one look-up by key in each table."""

from collections.abc import Collection, Mapping

from clarion.db.port import Connection, Row
from clarion.db.query import Query, sql
from clarion.ids import EnvironmentId, find_id, id_text
from clarion.search.model import Hit, Match, MatchKind, Parent, SearchType
from clarion.workflows.model import find_workflow_id

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


async def find_by_id(
    db: Connection, environment_id: EnvironmentId, text: str, types: Collection[SearchType]
) -> list[Hit]:
    """Find what has this id, if the text is one; the slug of a workflow has its id."""
    found = find_id(text.lower()) or find_workflow_id(text)
    wanted = [one for one in _LOOK_UPS if one in types]
    if found is None or not wanted:
        return []
    rows = await db.fetch(id_query(tuple(wanted)), environment_id=environment_id, id=found)
    return [_hit(row, SearchType(row["type"]), found, Match("_id", MatchKind.EXACT)) for row in rows]


async def find_by_provider_id(db: Connection, environment_id: EnvironmentId, text: str, *, limit: int) -> list[Hit]:
    """Find messages by the id that their provider gave them."""
    rows = await db.fetch(FIND_BY_PROVIDER_ID, environment_id=environment_id, text=text, limit=limit)
    match = Match("providerMessageId", MatchKind.EXACT)
    return [_hit(row, SearchType.MESSAGE, row["id"], match) for row in rows]


def id_query(types: tuple[SearchType, ...]) -> Query:
    """SQL: the rows of an id, with what a result shows of them."""
    selects = []
    for one in types:
        reference, title, subtitle, tables = _LOOK_UPS[one]
        # A NULL of the type of ids, which PostgreSQL has to know.
        _, parent_key, parent_id = _PARENTS.get(one, (None, "NULL", "NULLIF(t.id, t.id)"))
        selects.append(f"""
            SELECT '{one}' AS type, CAST({reference} AS text) AS reference, CAST({title} AS text) AS title,
                CAST({subtitle} AS text) AS subtitle, CAST({parent_key} AS text) AS parent_key,
                {parent_id} AS parent_id
            FROM {tables} WHERE t.environment_id = :environment_id AND t.id = :id
        """)
    return sql(" UNION ALL ".join(selects))


def _hit(row: Row, kind: SearchType, found: bytes, match: Match) -> Hit:
    text = id_text(found)
    return Hit(
        type=kind,
        id=found,
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
