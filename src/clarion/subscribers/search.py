"""Search in subscribers: texts are found by trigrams, in SQLite's full-text index or PostgreSQL's GIN."""

from typing import Any

from clarion.db.port import Connection, Dialect
from clarion.db.query import sql
from clarion.http.pages import Listing
from clarion.ids import EnvironmentId
from clarion.subscribers.store import COLUMNS
from clarion.subscribers.wire import SubscriberQuery

_TEXT_COLUMNS = {"email": "email", "phone": "phone", "name": "full_name"}
_SHORTEST_GRAM = 3
_FEW = 2_000

# Ids from the index first, then their rows: left to itself SQLite would walk the environment and ask for each row.
_AMONG_MATCHES = """
    t.id IN (
        SELECT s.id FROM subscriber_search AS found CROSS JOIN subscribers AS s ON s.search_row = found.rowid
        WHERE found.subscriber_search MATCH :search_match AND s.environment_id = :environment_id
    )
"""

COUNT_MATCHES = sql("""
    SELECT count(*) AS n FROM (
        SELECT rowid FROM subscriber_search WHERE subscriber_search MATCH :search_match LIMIT :most
    ) AS found
""")


async def search_subscribers(db: Connection, environment_id: EnvironmentId, query: SubscriberQuery) -> Listing:
    """The subscribers that hold every given text, case and all."""
    conditions = ["t.environment_id = :environment_id"]
    parameters: dict[str, Any] = {"environment_id": environment_id}
    if query.subscriber_id:
        conditions.append("t.key = :key")
        parameters["key"] = query.subscriber_id
    texts = {name: text for name in _TEXT_COLUMNS if (text := _wanted(query, name))}
    for name, text in texts.items():
        conditions.append(f"{{position}}(t.{_TEXT_COLUMNS[name]}, :{name}) > 0")
        parameters[name] = text
    grams = {name: text for name, text in texts.items() if len(text) >= _SHORTEST_GRAM}
    if db.dialect is Dialect.POSTGRES:
        conditions += [f"clarion_grams(t.{_TEXT_COLUMNS[name]}) @> clarion_grams(:{name})" for name in grams]
    elif grams and await _is_rare(db, match := _match(grams)):
        conditions.append(_AMONG_MATCHES)
        parameters["search_match"] = match
    return Listing(columns=COLUMNS, source="subscribers AS t", where=" AND ".join(conditions), parameters=parameters)


def _wanted(query: SubscriberQuery, name: str) -> str:
    text: str = getattr(query, name) or ""
    return text.strip() if name == "name" else text


def _match(grams: dict[str, str]) -> str:
    quoted = {name: text.replace('"', '""') for name, text in grams.items()}
    return " AND ".join(f'{_TEXT_COLUMNS[name]} : "{text}"' for name, text in quoted.items())


async def _is_rare(db: Connection, match: str) -> bool:
    """Whether the index narrows the search; where most rows match, walking the list finds a page sooner."""
    row = await db.fetch_one(COUNT_MATCHES, search_match=match, most=_FEW + 1)
    return row is not None and row["n"] <= _FEW
