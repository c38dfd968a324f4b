"""Finds people by a piece of text in any case, in a bounded time: for a search box, where an answer must come at once.

A key or an e-mail address that begins with the text is found by an index; a text inside an e-mail address, a phone
number or a name by its trigrams. A common text, which has too many matches, is looked for among the newest people.
"""

from collections.abc import Sequence
from itertools import product
from typing import Any

from clarion.db.port import Connection, Dialect, Row
from clarion.db.query import Query, sql
from clarion.ids import EnvironmentId
from clarion.subscribers.search import COMMON, GRAM_LENGTH, SAMPLE, choose_trigrams, folded_email, list_sample

_COLUMNS = "t.id, t.key, t.email, t.phone, t.full_name"
_NEWEST = 500
"""How many people are looked at where the text is common or too short for the index."""
_MAX_ROWS = 5_000
"""How many rows of the text index are looked at: SQLite's has the people of all environments."""
_TEXTS = ("key", "email", "phone", "full_name")
_MAX_WORD = 64

LIST_NEWEST = sql(f"""
    SELECT {_COLUMNS} FROM subscribers AS t WHERE t.environment_id = :environment_id ORDER BY t.id DESC LIMIT {_NEWEST}
""")


async def find_people(db: Connection, environment_id: EnvironmentId, text: str, *, limit: int) -> list[Row]:
    """Find people who may contain all words of the text; the caller compares them, because some do not."""
    words = text.lower().split()
    found = {row["id"]: row for row in await _find_by_beginning(db, environment_id, text, limit)}
    word = max(words, key=len)[:_MAX_WORD]
    sample = await list_sample(db, environment_id)
    is_common = sum(_contains(row, word) for row in sample) >= COMMON
    if len(sample) < 2 * SAMPLE or is_common or len(word) < GRAM_LENGTH:
        rows = await db.fetch(LIST_NEWEST, environment_id=environment_id)
    else:
        texts = [" ".join(row[name] or "" for name in _TEXTS[1:]).lower() for row in sample]
        rows = await _find_by_grams(db, environment_id, word, choose_trigrams(word, texts), limit=10 * limit)
    for row in rows:
        found.setdefault(row["id"], row)
    return list(found.values())


async def _find_by_beginning(db: Connection, environment_id: EnvironmentId, text: str, limit: int) -> Sequence[Row]:
    forms = list_forms(text)
    bound = {f"form_{number}": form for number, form in enumerate(forms)}
    return await db.fetch(beginning_query(len(forms)), environment_id=environment_id, limit=limit, **bound)


def beginning_query(forms: int) -> Query:
    """Read the index from each form of the text on: what begins with it comes next, in every collation."""
    walks = [
        f"""
        SELECT * FROM (
            SELECT {_COLUMNS} FROM subscribers AS t
            WHERE t.environment_id = :environment_id AND t.{column} >= :form_{number}
            ORDER BY t.{column} LIMIT :limit
        ) AS walk_{column}_{number}
        """
        for column in ("key", "email")
        for number in range(forms)
    ]
    return sql(" UNION ALL ".join(walks))


def list_forms(text: str) -> list[str]:
    """Return the text as it is, and in the other cases that people write it in."""
    return list(dict.fromkeys([text, text.lower(), text.capitalize(), text.upper()]))


async def _find_by_grams(
    db: Connection, environment_id: EnvironmentId, word: str, grams: Sequence[str], *, limit: int
) -> Sequence[Row]:
    bound: dict[str, Any] = {"environment_id": environment_id, "limit": limit}
    if word.isascii():
        bound["word"] = word
    if db.dialect is Dialect.SQLITE:
        alternatives = [" OR ".join(f'"{_quoted(one)}"' for one in _spellings(gram)) for gram in grams]
        grams_text = " AND ".join(f"({one})" for one in alternatives)
        return await db.fetch(
            gram_query(db.dialect, len(grams), is_ascii=word.isascii()), **bound, grams=grams_text, most=_MAX_ROWS
        )
    spellings = {f"gram_{number}": _spellings(gram) for number, gram in enumerate(grams)}
    query = gram_query(db.dialect, len(grams), is_ascii=word.isascii())
    return await db.fetch(query, **bound, **spellings, grams=list(grams))


def gram_query(dialect: Dialect, grams: int, *, is_ascii: bool) -> Query:
    """SQL: people with a text that has all the grams; databases fold only ASCII letters alike, so only such a word is
    compared there.
    """
    if dialect is Dialect.SQLITE:
        return sql(f"""
            SELECT {_COLUMNS} FROM (
                SELECT rowid AS search_row FROM subscriber_search WHERE subscriber_search MATCH :grams
                ORDER BY rowid DESC LIMIT :most
            ) AS found
            CROSS JOIN subscribers AS t ON t.search_row = found.search_row
            WHERE t.environment_id = :environment_id {_contains_word(dialect, _TEXTS[1:]) if is_ascii else ""}
            LIMIT :limit
        """)
    name = " AND ".join(f"clarion_grams(t.full_name) && CAST(:gram_{number} AS text[])" for number in range(grams))
    conditions = {
        "email": f"clarion_grams({folded_email(dialect, 't')}) @> CAST(:grams AS text[])",
        "phone": "clarion_grams(t.phone) @> CAST(:grams AS text[])",
        "full_name": name,
    }
    parts = [
        f"""
        SELECT * FROM (
            SELECT {_COLUMNS} FROM subscribers AS t
            WHERE t.environment_id = :environment_id AND {condition}
            {_contains_word(dialect, (column,)) if is_ascii else ""}
            LIMIT :limit
        ) AS by_{column}
        """
        for column, condition in conditions.items()
    ]
    return sql(" UNION ALL ".join(parts))


def _contains_word(dialect: Dialect, columns: Sequence[str]) -> str:
    collation = "" if dialect is Dialect.SQLITE else ' COLLATE "C"'
    tests = [f"{{position}}(lower(t.{column}{collation}), :word) > 0" for column in columns]
    return f"AND ({' OR '.join(tests)})"


def _spellings(gram: str) -> list[str]:
    """Return a gram in all combinations of cases; letters whose other case is longer have one."""
    letters = [{one, one.upper()} if len(one.upper()) == 1 else {one} for one in gram]
    return sorted("".join(one) for one in product(*letters))


def _quoted(gram: str) -> str:
    return gram.replace('"', '""')


def _contains(row: Row, word: str) -> bool:
    return any(word in (row[name] or "").lower() for name in _TEXTS)
