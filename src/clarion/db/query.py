"""SQL texts: written once with `:names` and a few marks, translated once for each database.

| Mark | PostgreSQL | SQLite |
|---|---|---|
| `:name` | `$1`, `$2`, … | `:name` |
| `{any:names}` | `= ANY($1)` | `IN (:names_0, :names_1, …)` |
| `{for_update}` | `FOR UPDATE` | nothing: one writer |
| `{position}(text, part)` | `strpos` | `instr` |
| `{skip_locked}` | `FOR UPDATE SKIP LOCKED` | nothing: one writer |
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

_NAME = re.compile(r"(?<!:):([a-z_][a-z0-9_]*)")
_ANY = re.compile(r"\{any:([a-z_][a-z0-9_]*)\}")
# mark: what PostgreSQL reads, what SQLite reads
_WORDS = {
    "{for_update}": ("FOR UPDATE", ""),
    "{skip_locked}": ("FOR UPDATE SKIP LOCKED", ""),
    "{position}": ("strpos", "instr"),
}


@dataclass(frozen=True, slots=True)
class Query:
    """One statement for both databases."""

    postgres: str
    names: tuple[str, ...]
    """Parameters in the order of `$1`, `$2`, …"""
    sqlite: str
    lists: tuple[str, ...]

    def postgres_arguments(self, parameters: Mapping[str, Any]) -> list[Any]:
        return [parameters[name] for name in self.names]

    def sqlite_call(self, parameters: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        """The text and its parameters, with every list spread over names of its own."""
        if not self.lists:
            return self.sqlite, parameters
        text, spread = self.sqlite, dict(parameters)
        for name in self.lists:
            values = _padded(list(spread.pop(name)))
            names = [f"{name}_{number}" for number in range(len(values))]
            text = text.replace(f"{{any:{name}}}", "IN (" + ", ".join(f":{one}" for one in names) + ")")
            spread.update(zip(names, values, strict=True))
        return text, spread


@lru_cache(maxsize=2048)
def sql(text: str) -> Query:
    """Translate one statement; the same text is translated once."""
    postgres = sqlite = text
    for mark, (for_postgres, for_sqlite) in _WORDS.items():
        postgres, sqlite = postgres.replace(mark, for_postgres), sqlite.replace(mark, for_sqlite)
    lists = tuple(dict.fromkeys(_ANY.findall(text)))
    postgres = _ANY.sub(r"= ANY(:\1)", postgres)
    names = tuple(dict.fromkeys(_NAME.findall(postgres)))
    numbers = {name: f"${number}" for number, name in enumerate(names, start=1)}
    postgres = _NAME.sub(lambda match: numbers[match[1]], postgres)
    return Query(postgres=postgres, names=names, sqlite=sqlite, lists=lists)


def _padded(values: list[Any]) -> list[Any]:
    """Repeat the last value up to a power of two, so that few texts are prepared for lists of all lengths."""
    if not values:
        return [None]
    size = 1 << (len(values) - 1).bit_length()
    return values + [values[-1]] * (size - len(values))
