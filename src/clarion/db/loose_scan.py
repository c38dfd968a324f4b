"""Loose index scans: the distinct values among many rows, each found by one look-up behind the last one."""

FEW = 200
"""So many rows that are due are read to find their environments; if there are more, each environment is asked."""


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
