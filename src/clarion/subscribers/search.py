"""Finds people by a piece of text, through rare trigrams in SQLite's full-text index or PostgreSQL's GIN index.

Lists have all matches, case-sensitively. A search box needs some matches at once, in any case: a key or an e-mail
address that begins with the text is found by an index; a text inside an e-mail address, a phone number or a name by its
trigrams. A common text, which has too many matches, is looked for among the newest people.
"""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from clarion.db.listing import Listing, add_lengths
from clarion.db.port import Connection, Dialect, Row
from clarion.db.query import Query, sql
from clarion.ids import EnvironmentId, SubscriberId
from clarion.subscribers.store import COLUMNS
from clarion.subscribers.wire import SubscriberQuery

GRAM_LENGTH = 3
_MAX_GRAMS = 3
SAMPLE = 100  # subscribers from either end of the list
COMMON = 4  # a text that this many subscribers of the sample contain is common
_MAX_MATCHES = 1_000
_NEWEST = 500
"""How many people are looked at where the text is common or too short for the index."""
_MAX_ROWS = 5_000
"""How many rows of the text index are looked at: SQLite's has the people of all environments."""
_MAX_WORD = 64

_TEXT_COLUMNS = {"email": "email", "phone": "phone", "name": "full_name"}
_TEXTS = ("key", "email", "phone", "full_name")

_COLUMNS = "t.id, t.key, t.email, t.phone, t.full_name"


class IndexedTexts(NamedTuple):
    """Columns of a table that have an index each, and what is read of a row."""

    table: str
    texts: tuple[str, ...]
    columns: str


PEOPLE = IndexedTexts("subscribers", ("key", "email"), _COLUMNS)

_SAMPLED = "SELECT t.key, t.email, t.phone, t.full_name FROM subscribers AS t WHERE t.environment_id = :environment_id"
# With a parameter as the limit, PostgreSQL would expect a tenth of the rows and plan the statement anew each time.
LIST_OLDEST = sql(f"{_SAMPLED} ORDER BY t.id LIMIT {SAMPLE}")
LIST_NEWEST = sql(f"{_SAMPLED} ORDER BY t.id DESC LIMIT {SAMPLE}")

# A subquery takes the ids from the index and checks the texts before the rows are read: without it both databases may
# scan the whole environment instead.
_AMONG_MATCHES = {
    Dialect.SQLITE: """
        t.id IN (
            SELECT s.id FROM subscriber_search AS found CROSS JOIN subscribers AS s ON s.search_row = found.rowid
            WHERE found.subscriber_search MATCH :grams AND s.environment_id = :environment_id AND {contains}
        )
    """,
    Dialect.POSTGRES: """
        t.id = ANY (ARRAY(
            SELECT s.id FROM subscribers AS s WHERE s.environment_id = :environment_id AND {matches} AND {contains}
        ))
    """,
}

Texts = Mapping[str, str]
"""The searched texts, by the name of the filter."""

LIST_NEWEST_PEOPLE = sql(f"""
    SELECT {_COLUMNS} FROM subscribers AS t WHERE t.environment_id = :environment_id ORDER BY t.id DESC LIMIT {_NEWEST}
""")


def folded_email(dialect: Dialect, table: str) -> str:
    """SQL for a lower-cased e-mail address; in both databases it lower-cases ASCII letters only."""
    return f"lower({table}.email)" if dialect is Dialect.SQLITE else f'lower({table}.email COLLATE "C")'


# The expressions that PostgreSQL has indexes on.
_GRAMS_OF = {
    "email": f"clarion_grams({folded_email(Dialect.POSTGRES, 's')})",
    "phone": "clarion_grams(s.phone)",
    "name": "clarion_grams(s.full_name)",
}


async def search_subscribers(db: Connection, environment_id: EnvironmentId, query: SubscriberQuery) -> Listing:
    """List the subscribers that contain every given text, case-sensitively."""
    conditions = ["t.environment_id = :environment_id"]
    parameters: dict[str, Any] = {"environment_id": environment_id}
    if query.subscriber_id is not None:
        conditions.append("t.key = :key")
        parameters["key"] = query.subscriber_id
    texts = {name: text for name in _TEXT_COLUMNS if (text := _wanted(query, name))}
    parameters |= texts
    grams = await _choose_grams(db, environment_id, texts)
    if grams:
        condition, bound = _among_matches(db.dialect, grams, contains=_contains_texts("s", texts))
        conditions.append(condition)
        parameters |= bound
    return Listing(
        columns=COLUMNS,
        source="subscribers AS t",
        where=" AND ".join(conditions),
        parameters=parameters,
        unindexed=None if grams else _contains_texts("t", texts) or None,
        is_selective=bool(grams),
        weight=add_lengths("t.data", "t.schedule", "t.avatar"),
    )


async def search_people(db: Connection, environment_id: EnvironmentId, text: str) -> list[SubscriberId] | None:
    """Find subscribers whose key is the text or whose e-mail contains it in any case; None if they are too many."""
    folded = fold_email(text)
    condition = _contains_folded(db.dialect, "t")
    bound: dict[str, Any] = {}
    sample = await list_sample(db, environment_id)
    if len(sample) == 2 * SAMPLE:
        if len(text) < GRAM_LENGTH or sum(folded in fold_email(row["email"] or "") for row in sample) >= COMMON:
            return None
        grams = {"email": _grams_of("email", text, sample)}
        condition, bound = _among_matches(db.dialect, grams, contains=_contains_folded(db.dialect, "s"))
    query = sql(f"""
        SELECT id FROM subscribers WHERE environment_id = :environment_id AND key = :text
        UNION ALL SELECT t.id FROM subscribers AS t WHERE t.environment_id = :environment_id AND {condition}
        LIMIT {_MAX_MATCHES + 2}
    """)
    rows = await db.fetch(query, environment_id=environment_id, text=text, folded=folded, **bound)
    # A subscriber that matches by key and by e-mail is found twice.
    found = list(dict.fromkeys(row["id"] for row in rows))
    return None if len(found) > _MAX_MATCHES else found


def fold_email(text: str) -> str:
    return text.encode().lower().decode()


def choose_trigrams(text: str, sample: Sequence[str]) -> list[str]:
    """Choose the trigrams of a text that are rarest in the sample, no two of them next to each other.

    Trigrams that share two characters occur together in most texts, and hardly narrow a search more than one.
    """
    texts = "\n".join(sample)
    starts: list[int] = []
    for start in sorted(range(len(text) - GRAM_LENGTH + 1), key=lambda one: texts.count(text[one : one + GRAM_LENGTH])):
        if all(abs(start - other) > 1 for other in starts):
            starts.append(start)
    return list(dict.fromkeys(text[start : start + GRAM_LENGTH] for start in starts[:_MAX_GRAMS]))


async def _choose_grams(db: Connection, environment_id: EnvironmentId, texts: Texts) -> dict[str, list[str]]:
    """Choose the trigrams to look up in the index; none where scanning the list finds a page sooner.

    A scan is faster in short lists and for common texts, as a sample of subscribers shows: the index has long
    entries for common trigrams, and the time to read them grows with the number of subscribers.
    """
    if all(len(text) < GRAM_LENGTH for text in texts.values()):
        return {}
    sample = await list_sample(db, environment_id)
    if len(sample) < 2 * SAMPLE or sum(_has_texts(row, texts) for row in sample) >= COMMON:
        return {}
    return {name: _grams_of(name, text, sample) for name, text in texts.items() if len(text) >= GRAM_LENGTH}


async def list_sample(db: Connection, environment_id: EnvironmentId) -> list[Row]:
    oldest = await db.fetch(LIST_OLDEST, environment_id=environment_id)
    newest = await db.fetch(LIST_NEWEST, environment_id=environment_id)
    return [*oldest, *newest]


def _grams_of(name: str, text: str, sample: Sequence[Row]) -> list[str]:
    return choose_trigrams(_folded(name, text), [_folded(name, row[_TEXT_COLUMNS[name]] or "") for row in sample])


def _contains_texts(table: str, texts: Texts) -> str:
    return " AND ".join(f"{{position}}({table}.{_TEXT_COLUMNS[name]}, :{name}) > 0" for name in texts)


def _contains_folded(dialect: Dialect, table: str) -> str:
    return f"{{position}}({folded_email(dialect, table)}, :folded) > 0"


def _among_matches(
    dialect: Dialect, grams: Mapping[str, Sequence[str]], *, contains: str
) -> tuple[str, dict[str, Any]]:
    condition = _AMONG_MATCHES[dialect].replace("{contains}", contains)
    if dialect is Dialect.POSTGRES:
        matches = " AND ".join(f"{_GRAMS_OF[name]} @> CAST(:{name}_grams AS text[])" for name in grams)
        return condition.replace("{matches}", matches), {f"{name}_grams": list(found) for name, found in grams.items()}
    quoted = [gram.replace('"', '""') for found in grams.values() for gram in found]
    return condition, {"grams": " AND ".join(f'"{gram}"' for gram in quoted)}


def _wanted(query: SubscriberQuery, name: str) -> str:
    text: str = getattr(query, name) or ""
    return text.strip() if name == "name" else text


def _has_texts(row: Row, texts: Texts) -> bool:
    return all(text in (row[_TEXT_COLUMNS[name]] or "") for name, text in texts.items())


def _folded(name: str, text: str) -> str:
    return fold_email(text) if name == "email" else text


async def find_people(db: Connection, environment_id: EnvironmentId, text: str, *, limit: int) -> list[Row]:
    """Find people who may contain all words of the text; the caller compares them, because some do not."""
    words = text.lower().split()
    people = {row["id"]: row for row in await find_by_beginning(db, environment_id, text, PEOPLE, limit=limit)}
    word = max(words, key=len)[:_MAX_WORD]
    sample = await list_sample(db, environment_id)
    is_common = sum(_contains(row, word) for row in sample) >= COMMON
    if len(sample) < 2 * SAMPLE or is_common or len(word) < GRAM_LENGTH:
        rows = await db.fetch(LIST_NEWEST_PEOPLE, environment_id=environment_id)
    else:
        texts = [" ".join(row[name] or "" for name in _TEXTS[1:]).lower() for row in sample]
        rows = await _find_by_grams(db, environment_id, word, choose_trigrams(word, texts), limit=10 * limit)
    for row in rows:
        people.setdefault(row["id"], row)
    return list(people.values())


async def find_by_beginning(
    db: Connection, environment_id: EnvironmentId, text: str, place: IndexedTexts, *, limit: int
) -> Sequence[Row]:
    """Find rows where an indexed text begins with the text, as it is or in the other cases that people write it in."""
    forms = list(dict.fromkeys([text, text.lower(), text.capitalize(), text.upper()]))
    bound = {f"form_{number}": form for number, form in enumerate(forms)}
    return await db.fetch(beginning_query(place, len(forms)), environment_id=environment_id, limit=limit, **bound)


def beginning_query(place: IndexedTexts, forms: int) -> Query:
    """SQL: read an index from each form of a text on; what begins with it comes next, in every collation."""
    walks = [
        f"""
        SELECT * FROM (
            SELECT {place.columns} FROM {place.table} AS t
            WHERE t.environment_id = :environment_id AND t.{text} >= :form_{number}
            ORDER BY t.{text} LIMIT :limit
        ) AS walk_{text}_{number}
        """
        for text in place.texts
        for number in range(forms)
    ]
    return sql(" UNION ALL ".join(walks))


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
            gram_query(db.dialect, len(grams), is_ascii=word.isascii()), **bound, grams=grams_text, max_rows=_MAX_ROWS
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
                ORDER BY rowid DESC LIMIT :max_rows
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
