"""Search in subscribers: texts are found by their rarest trigrams, in SQLite's full-text index or PostgreSQL's GIN."""

from collections.abc import Mapping, Sequence
from math import log
from typing import Any

from clarion.db.listing import Listing
from clarion.db.port import Connection, Dialect, Row
from clarion.db.query import sql
from clarion.ids import EnvironmentId, SubscriberId
from clarion.subscribers.store import COLUMNS
from clarion.subscribers.wire import SubscriberQuery

_TEXT_COLUMNS = {"email": "email", "phone": "phone", "name": "full_name"}
_GRAM = 3
_ASKED_GRAMS = 3
_NEWS = (6, 5, 3, 1)  # what a trigram tells that shares no, one, two or all characters with those asked for already
_SAMPLE = 100  # from either end of the list
_COMMON = 4  # of the sample
_MAX_PEOPLE = 1_000

_SAMPLED = "SELECT t.email, t.phone, t.full_name FROM subscribers AS t WHERE t.environment_id = :environment_id"
LIST_OLDEST = sql(f"{_SAMPLED} ORDER BY t.id LIMIT :limit")
LIST_NEWEST = sql(f"{_SAMPLED} ORDER BY t.id DESC LIMIT :limit")

# Ids from the index first, of those who hold the text indeed, then their rows: left to themselves both databases may
# walk the environment instead.
_AMONG_MATCHES = {
    Dialect.SQLITE: """
        t.id IN (
            SELECT s.id FROM subscriber_search AS found CROSS JOIN subscribers AS s ON s.search_row = found.rowid
            WHERE found.subscriber_search MATCH :grams AND s.environment_id = :environment_id AND {holds}
        )
    """,
    Dialect.POSTGRES: """
        t.id = ANY (ARRAY(
            SELECT s.id FROM subscribers AS s WHERE s.environment_id = :environment_id AND {matches} AND {holds}
        ))
    """,
}
# In both databases only the letters of ASCII have another case.
FOLDED_EMAIL = {Dialect.SQLITE: "lower(s.email)", Dialect.POSTGRES: 'lower(s.email COLLATE "C")'}
_HOLDS_FOLDED = {dialect: f"{{position}}({folded}, :folded) > 0" for dialect, folded in FOLDED_EMAIL.items()}
# What PostgreSQL has indexes of.
_GRAMS_OF = {
    "email": f"clarion_grams({FOLDED_EMAIL[Dialect.POSTGRES]})",
    "phone": "clarion_grams(s.phone)",
    "name": "clarion_grams(s.full_name)",
}

Texts = Mapping[str, str]
"""What is searched, by the name of the filter."""


async def search_subscribers(db: Connection, environment_id: EnvironmentId, query: SubscriberQuery) -> Listing:
    """The subscribers that hold every given text, case and all."""
    conditions = ["t.environment_id = :environment_id"]
    parameters: dict[str, Any] = {"environment_id": environment_id}
    if query.subscriber_id:
        conditions.append("t.key = :key")
        parameters["key"] = query.subscriber_id
    texts = {name: text for name in _TEXT_COLUMNS if (text := _wanted(query, name))}
    parameters |= texts
    grams = await _choose_grams(db, environment_id, texts)
    if grams:
        condition, bound = _among_matches(db.dialect, grams, holds=_holding("s", texts))
        conditions.append(condition)
        parameters |= bound
    return Listing(
        columns=COLUMNS,
        source="subscribers AS t",
        where=" AND ".join(conditions),
        parameters=parameters,
        unindexed=None if grams else _holding("t", texts) or None,
        is_selective=bool(grams),
    )


async def search_people(db: Connection, environment_id: EnvironmentId, text: str) -> list[SubscriberId] | None:
    """Whoever has the text as their key, or in their address whatever its case; None where that is very many."""
    folded = fold_email(text)
    condition = _HOLDS_FOLDED[db.dialect].replace("s.", "t.")
    bound: dict[str, Any] = {}
    sample = await _list_sample(db, environment_id)
    if len(sample) == 2 * _SAMPLE:
        if len(text) < _GRAM or sum(folded in fold_email(row["email"] or "") for row in sample) >= _COMMON:
            return None
        grams = {"email": _grams_of("email", text, sample)}
        condition, bound = _among_matches(db.dialect, grams, holds=_HOLDS_FOLDED[db.dialect])
    query = sql(f"""
        SELECT id FROM subscribers WHERE environment_id = :environment_id AND key = :text
        UNION ALL SELECT t.id FROM subscribers AS t WHERE t.environment_id = :environment_id AND {condition}
        LIMIT {_MAX_PEOPLE + 2}
    """)
    rows = await db.fetch(query, environment_id=environment_id, text=text, folded=folded, **bound)
    # Whose key and address both hold the text is found twice.
    found = list(dict.fromkeys(row["id"] for row in rows))
    return None if len(found) > _MAX_PEOPLE else found


def fold_email(text: str) -> str:
    return text.encode().lower().decode()


def rarest_grams(text: str, others: Sequence[str]) -> list[str]:
    """A few trigrams of a text that together are rarest: each is one that few of the others have, and tells anew.

    Trigrams that overlap stand together in most texts: two that share two characters hardly narrow more than one.
    """
    places: dict[str, int] = {}
    for start in range(len(text) - _GRAM + 1):
        places.setdefault(text[start : start + _GRAM], start)
    rarity = {gram: log((len(others) + 1) / (sum(gram in other for other in others) + 0.5)) for gram in places}
    chosen: list[str] = []
    shown: set[int] = set()
    while places and len(chosen) < _ASKED_GRAMS:
        gram = max(places, key=lambda one: rarity[one] * _NEWS[len(_span(places[one]) & shown)])
        shown |= _span(places.pop(gram))
        chosen.append(gram)
    return chosen


def _span(start: int) -> set[int]:
    return set(range(start, start + _GRAM))


async def _choose_grams(db: Connection, environment_id: EnvironmentId, texts: Texts) -> dict[str, list[str]]:
    """The trigrams to ask the index for; none where walking the list finds a page sooner.

    That is so for texts that many have, and in lists that are short. A look at some people tells: the lists of
    common trigrams are long in the index, and going through them would take longer the more people there are.
    """
    if all(len(text) < _GRAM for text in texts.values()):
        return {}
    sample = await _list_sample(db, environment_id)
    if len(sample) < 2 * _SAMPLE or sum(_holds(row, texts) for row in sample) >= _COMMON:
        return {}
    return {name: _grams_of(name, text, sample) for name, text in texts.items() if len(text) >= _GRAM}


async def _list_sample(db: Connection, environment_id: EnvironmentId) -> list[Row]:
    oldest = await db.fetch(LIST_OLDEST, environment_id=environment_id, limit=_SAMPLE)
    newest = await db.fetch(LIST_NEWEST, environment_id=environment_id, limit=_SAMPLE)
    return [*oldest, *newest]


def _grams_of(name: str, text: str, sample: Sequence[Row]) -> list[str]:
    return rarest_grams(_folded(name, text), [_folded(name, row[_TEXT_COLUMNS[name]] or "") for row in sample])


def _holding(table: str, texts: Texts) -> str:
    return " AND ".join(f"{{position}}({table}.{_TEXT_COLUMNS[name]}, :{name}) > 0" for name in texts)


def _among_matches(dialect: Dialect, grams: Mapping[str, Sequence[str]], *, holds: str) -> tuple[str, dict[str, Any]]:
    condition = _AMONG_MATCHES[dialect].replace("{holds}", holds)
    if dialect is Dialect.POSTGRES:
        matches = " AND ".join(f"{_GRAMS_OF[name]} @> CAST(:{name}_grams AS text[])" for name in grams)
        return condition.replace("{matches}", matches), {f"{name}_grams": list(found) for name, found in grams.items()}
    quoted = [gram.replace('"', '""') for found in grams.values() for gram in found]
    return condition, {"grams": " AND ".join(f'"{gram}"' for gram in quoted)}


def _wanted(query: SubscriberQuery, name: str) -> str:
    text: str = getattr(query, name) or ""
    return text.strip() if name == "name" else text


def _holds(row: Row, texts: Texts) -> bool:
    return all(text in (row[_TEXT_COLUMNS[name]] or "") for name, text in texts.items())


def _folded(name: str, text: str) -> str:
    return fold_email(text) if name == "email" else text
