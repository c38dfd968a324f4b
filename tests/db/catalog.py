"""What a database says of its own tables, in a form that can be compared; the order of columns does not count."""

from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import asyncpg

Catalog = dict[str, list[list[Any]]]

_POSTGRES = {
    "columns": """
        SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attgenerated::text,
            coalesce(pg_get_expr(d.adbin, d.adrelid), '')
        FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid
        LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
        WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped
    """,
    "constraints": """
        SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid)
        FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND contype <> 'n'
    """,
    "indexes": "SELECT tablename, indexdef FROM pg_indexes WHERE schemaname = 'public'",
    "functions": """
        SELECT proname, pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'public'::regnamespace
    """,
    "settings": """
        SELECT relname, array_to_string(reloptions, ', ') FROM pg_class
        WHERE relnamespace = 'public'::regnamespace AND reloptions IS NOT NULL
    """,
}
_SQLITE_TABLES = "pragma_table_list AS t WHERE t.schema = 'main' AND t.name NOT LIKE 'sqlite^_%' ESCAPE '^'"
_SQLITE = {
    "tables": f"SELECT t.name, t.type, t.wr, t.strict FROM {_SQLITE_TABLES}",
    "columns": f"""
        SELECT t.name, c.name, c.type, c."notnull", coalesce(c.dflt_value, ''), c.pk, c.hidden
        FROM pragma_table_xinfo(t.name) AS c, {_SQLITE_TABLES}
    """,
    "indexes": f"""
        SELECT t.name, i.origin, i."unique", coalesce((SELECT sql FROM sqlite_master WHERE name = i.name), ''),
            (SELECT group_concat(name || ' ' || "desc" || ' ' || coll) FROM pragma_index_xinfo(i.name) WHERE "key")
        FROM pragma_index_list(t.name) AS i, {_SQLITE_TABLES}
    """,
    "triggers": "SELECT tbl_name, sql FROM sqlite_master WHERE type = 'trigger'",
}


async def read_postgres_catalog(url: str) -> Catalog:
    connection = await asyncpg.connect(url)
    try:
        return {kind: sorted(map(list, await connection.fetch(query))) for kind, query in _POSTGRES.items()}
    finally:
        await connection.close()


def read_sqlite_catalog(path: Path) -> Catalog:
    with closing(apsw.Connection(str(path))) as connection:
        return {kind: sorted(map(list, connection.execute(query))) for kind, query in _SQLITE.items()}
