"""How units of work on queues find the next few rows among many: hints to PostgreSQL's planner, loose index scans.

A loose index scan finds the distinct values among many rows, each by one look-up behind the last one.
"""

from clarion.db.port import Connection, Dialect
from clarion.db.query import sql

# The statistics of a queue are always out of date. Taking it for nearly empty, PostgreSQL would read and sort a whole
# backlog to find the next few rows, and it keeps plans that it made while the queue was empty. For one transaction it
# plans anew by the real size of the tables and prefers indexes: what is read was just written and is in memory.
PREFER_INDEX_SCANS = """
    set_config('plan_cache_mode', 'force_custom_plan', true), set_config('enable_bitmapscan', 'off', true),
    set_config('enable_sort', 'off', true), set_config('random_page_cost', '1', true)
"""
"""SQL: select this to apply the hints in a statement that does something else as well."""

_APPLY = sql(f"SELECT {PREFER_INDEX_SCANS}")

FEW = 200
"""So many rows that are due are read to find their environments; if there are more, each environment is asked."""


async def prefer_index_scans(db: Connection) -> None:
    """Let this unit of work take the next few rows of a long queue by an index."""
    if db.dialect is Dialect.POSTGRES and not db.is_sandbox:
        await db.fetch_one(_APPLY)


def distinct_environments(name: str, rows: str, *, condition: str = "TRUE") -> str:
    """SQL: a recursive CTE of the environments among rows, and one NULL; an index of the rows begins with them.

    It is empty where the condition, which is about no row, does not hold.
    """
    return f"""
        {name} (id) AS (
            SELECT (SELECT environment_id FROM {rows} ORDER BY environment_id LIMIT 1) WHERE {condition}
            UNION ALL
            SELECT (
                SELECT environment_id FROM {rows} AND environment_id > {name}.id ORDER BY environment_id LIMIT 1
            ) FROM {name} WHERE {name}.id IS NOT NULL
        )
    """


def due_environments(name: str, rows: str) -> str:
    """SQL: CTEs of the environments among the rows that are due at `:now`.

    One index of the rows begins with the moment they are due at, another with environment and moment. Most rows are not
    due for long, so that the first few by moment are all that are due. If there are more, each environment is asked.
    """
    return f"""
        {name}_first (id) AS (
            SELECT environment_id FROM {rows} AND due_at <= :now ORDER BY due_at LIMIT {FEW}
        ),
        {distinct_environments(f"{name}_all", rows, condition=f"(SELECT count(*) FROM {name}_first) = {FEW}")},
        {name} (id) AS (
            SELECT DISTINCT id FROM {name}_first WHERE (SELECT count(*) FROM {name}_first) < {FEW}
            UNION ALL
            SELECT id FROM {name}_all WHERE (
                SELECT due_at FROM {rows} AND environment_id = {name}_all.id ORDER BY due_at LIMIT 1
            ) <= :now
        )
    """


def distinct_pairs(name: str, environments: str, column: str, rows: str) -> str:
    """SQL: a recursive CTE of the values of `column` in each of the environments, and one NULL for each.

    An index of the rows begins with the environment and the column; `environments` names a CTE of theirs.
    """
    return f"""
        {name} (environment_id, id) AS (
            SELECT e.id, (
                SELECT {column} FROM {rows} AND environment_id = e.id ORDER BY environment_id, {column} LIMIT 1
            ) FROM {environments} AS e WHERE e.id IS NOT NULL
            UNION ALL
            SELECT p.environment_id, (
                SELECT {column} FROM {rows} AND environment_id = p.environment_id AND {column} > p.id
                ORDER BY environment_id, {column} LIMIT 1
            ) FROM {name} AS p WHERE p.id IS NOT NULL
        )
    """
