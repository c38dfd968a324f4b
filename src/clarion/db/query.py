"""SQL statements, written once with `:names` and a few marks, and translated for each database.

| Mark | PostgreSQL | SQLite |
|---|---|---|
| `:name` | `$1`, `$2`, … | `?1`, `?2`, … |
| `{any:names}` | `= ANY($1)` | `IN (?3, ?4, …)` |
| `{for_update}` | `FOR UPDATE` | nothing: there is one writer |
| `{for_update_of_t}` | `FOR UPDATE OF t` | nothing: there is one writer |
| `{for_share}` | `FOR SHARE` | nothing: there is one writer |
| `{position}(text, part)` | `strpos` | `instr` |
| `{skip_locked}` | `FOR UPDATE SKIP LOCKED` | nothing: there is one writer |
| `{each: id uuid, note text}` | `FROM unnest($1::uuid[], $2::text[]) AS …` | nothing: runs once per row |

A statement with `{each: …}` changes many rows in one call of `execute_many`. Names in the mark have a value per row,
all other names have one value for all rows. No row may be changed twice. List the environment in the mark: given as one
value, PostgreSQL without statistics assumes that it is rare, and reads all rows of the environment.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Any

from msgspec import Struct

_NAME = re.compile(r"(?<!:):([a-z_][a-z0-9_]*)")
_NAME_ALONE = re.compile(r"(?<!:)(?<!\{any):([a-z_][a-z0-9_]*)")
_ANY = re.compile(r"\{any:([a-z_][a-z0-9_]*)\}")
_EACH = re.compile(r"\{each:([^}]*)\}")
# mark: replacement for PostgreSQL, for SQLite
_WORDS = {
    "{for_update}": ("FOR UPDATE", ""),
    "{for_update_of_t}": ("FOR UPDATE OF t", ""),
    "{for_share}": ("FOR SHARE", ""),
    "{skip_locked}": ("FOR UPDATE SKIP LOCKED", ""),
    "{position}": ("strpos", "instr"),
}


class Query(Struct, frozen=True, kw_only=True, eq=False):
    """One statement for both databases."""

    postgres: str
    sqlite: str
    names: tuple[str, ...]
    """The parameters in the order of their numbers."""
    lists: tuple[str, ...]
    each: frozenset[str]
    """Parameters that have a value per row."""
    arguments: Callable[[Mapping[str, Any]], Sequence[Any]]
    """Returns the values in the order of `names`."""
    columns: list[str] = []
    """The names of the result columns, filled in when SQLite first returns rows."""

    def postgres_columns(self, rows: Sequence[Mapping[str, Any]]) -> list[Any]:
        """The arguments for many rows: an array for a name with a value per row, a single value for the others."""
        first = rows[0]
        return [as_array([row[name] for row in rows]) if name in self.each else first[name] for name in self.names]

    def sqlite_call(self, parameters: dict[str, Any]) -> tuple[str, Sequence[Any]]:
        """The statement and its values; the members of lists follow the other values."""
        if not self.lists:
            return self.sqlite, self.arguments(parameters)
        text, values = self.sqlite, [None if name in self.lists else parameters[name] for name in self.names]
        for name in self.lists:
            members = _padded(parameters[name])
            places = _places(len(values) + 1, len(members))
            text = text.replace(f"{{any:{name}}}", places)
            values += members
        return text, values


@lru_cache(maxsize=2048)
def sql(text: str) -> Query:
    """Translate a statement; results are cached by text."""
    postgres = sqlite = text
    for mark, (for_postgres, for_sqlite) in _WORDS.items():
        postgres, sqlite = postgres.replace(mark, for_postgres), sqlite.replace(mark, for_sqlite)
    lists = tuple(dict.fromkeys(_ANY.findall(text)))
    each = dict(one.split() for found in _EACH.findall(text) for one in found.split(","))
    postgres, sqlite = _with_rows(postgres, each), _EACH.sub("", sqlite)
    postgres = _ANY.sub(r"= ANY(:\1)", postgres)
    names = tuple(dict.fromkeys(_NAME.findall(postgres)))
    numbers = {name: number for number, name in enumerate(names, start=1)}
    return Query(
        postgres=_NAME.sub(lambda match: f"${numbers[match[1]]}", postgres),
        # The mark of a list is replaced when its length is known.
        sqlite=_NAME_ALONE.sub(lambda match: f"?{numbers[match[1]]}", sqlite),
        names=names,
        lists=lists,
        each=frozenset(each),
        arguments=itemgetter(*names) if len(names) > 1 else lambda values: [values[name] for name in names],
    )


def columns_of(record: type[Struct], table: str = "") -> str:
    """The columns of a record, by its fields, to be selected.

    Never `*`: a newer process may add columns to the table while this one works.
    """
    prefix = f"{table}." if table else ""
    return ", ".join(f"{prefix}{name}" for name in record.__struct_fields__)


class Insert:
    """A bulk insert; each row is a tuple of values in the order of the columns.

    With `types`, those of the columns in PostgreSQL, many rows with a rule for conflicts are inserted by one statement.
    """

    def __init__(self, table: str, *columns: str, on_conflict: str = "", types: Sequence[str] = ()) -> None:
        self.table = table
        self.columns = columns
        self.on_conflict = on_conflict
        numbers = ", ".join(f"${number}" for number in range(1, len(columns) + 1))
        # Without types it returns a row for each that is inserted, to count them.
        returning = "RETURNING 1" if on_conflict and not types else ""
        self.postgres = f"INSERT {self._into} VALUES ({numbers}) {on_conflict} {returning}"
        self.postgres_arrays = f"INSERT {self._into} {_select_rows(types)} {on_conflict}" if types else None

    def sqlite(self, count: int) -> str:
        """The statement for `count` rows. Each statement releases the GIL, so fewer and larger ones are faster.

        If a row is refused, the rows before it stay until the unit of work is rolled back: to undo a statement alone,
        SQLite would copy every page that it changes.
        """
        row = f"({', '.join('?' * len(self.columns))})"
        return _repeated(f"INSERT OR FAIL {self._into} VALUES", row, self.on_conflict, count)

    @property
    def _into(self) -> str:
        return f"INTO {self.table} ({', '.join(self.columns)})"


def _select_rows(types: Sequence[str]) -> str:
    """Rows out of an array for each column; one with a single value has it for all rows."""
    arrays = [f"${number}::{kind}[]" for number, kind in enumerate(types, start=1)]
    names = [f"value_{number}" for number in range(1, len(types) + 1)]
    values = [
        f"CASE cardinality({array}) WHEN 1 THEN ({array})[1] ELSE {name} END"
        for array, name in zip(arrays, names, strict=True)
    ]
    return f"SELECT {', '.join(values)} FROM unnest({', '.join(arrays)}) AS given ({', '.join(names)})"


def as_short_array(values: Sequence[Any]) -> Sequence[Any]:
    """The values of a column in all rows for a bulk insert, or a single one if all are the same.

    asyncpg looks at each value of an array to see whether it is an array itself, which takes longer than this.
    """
    return as_array(values[:1] if values.count(values[0]) == len(values) else values)


def as_array(values: Sequence[Any]) -> Sequence[Any]:
    """The values of a column in all rows; empty if all are NULL, because `unnest` pads short arrays with NULL."""
    return values if any(value is not None for value in values) else []


def _with_rows(text: str, each: Mapping[str, str]) -> str:
    """Read the values per row from arrays; the prefix `new_` keeps their names apart from table columns."""
    if not each:
        return text
    text = _NAME.sub(lambda match: f"given.new_{match[1]}" if match[1] in each else match[0], text)
    arrays = ", ".join(f":{name}::{kind}[]" for name, kind in each.items())
    columns = ", ".join(f"new_{name}" for name in each)
    return _EACH.sub(f"FROM unnest({arrays}) AS given ({columns})", text)


@lru_cache(maxsize=512)
def _repeated(head: str, row: str, tail: str, count: int) -> str:
    return f"{head} {', '.join([row] * count)} {tail}"


@lru_cache(maxsize=512)
def _places(first: int, count: int) -> str:
    return "IN (" + ", ".join(f"?{number}" for number in range(first, first + count)) + ")"


def _padded(values: Sequence[Any]) -> list[Any]:
    """Repeat the last value up to a power of two, so that few different statements are prepared."""
    if not values:
        return [None]
    size = 1 << (len(values) - 1).bit_length()
    return [*values, *[values[-1]] * (size - len(values))]
