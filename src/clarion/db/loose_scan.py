"""Loose index scans: the distinct values among many rows, each found by one look-up behind the last one."""


def distinct_environments(name: str, rows: str) -> str:
    """SQL: a recursive CTE of the environments among rows, and one NULL; an index of the rows begins with them."""
    return f"""
        {name} (id) AS (
            SELECT (SELECT environment_id FROM {rows} ORDER BY environment_id LIMIT 1)
            UNION ALL
            SELECT (
                SELECT environment_id FROM {rows} AND environment_id > {name}.id ORDER BY environment_id LIMIT 1
            ) FROM {name} WHERE {name}.id IS NOT NULL
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
