"""The schema of 0.1.0, the first version that was released.

It has the number of the last migration before the release, so that a store with that schema is up to date.
"""

from pathlib import Path

from alembic import op

revision = "0023"
down_revision = None

TABLES = Path(__file__).with_suffix(".sql")

_SQLITE = (
    # A row for each subscriber under its search_row; trigrams find any text of three characters or more. Names are
    # searched in the case that was given, and addresses in lower case. Trigrams with a capital are much rarer.
    """
    CREATE VIRTUAL TABLE subscriber_search
    USING fts5(email, phone, full_name, tokenize = 'trigram case_sensitive 1', detail = 'none')
    """,
    """
    CREATE TRIGGER subscriber_search_insert AFTER INSERT ON subscribers BEGIN
        INSERT INTO subscriber_search (rowid, email, phone, full_name)
        VALUES (new.search_row, lower(new.email), new.phone, new.full_name);
    END
    """,
    """
    CREATE TRIGGER subscriber_search_update
    AFTER UPDATE OF email, phone, first_name, last_name ON subscribers BEGIN
        UPDATE subscriber_search SET email = lower(new.email), phone = new.phone, full_name = new.full_name
        WHERE rowid = new.search_row;
    END
    """,
    """
    CREATE TRIGGER subscriber_search_delete AFTER DELETE ON subscribers BEGIN
        DELETE FROM subscriber_search WHERE rowid = old.search_row;
    END
    """,
)

_POSTGRES = (
    # Trigrams by a plain function and core GIN: needs no extension. The cost makes the planner check cheap conditions
    # first where it walks rows. It takes a third of the time that it would take in SQL, and PostgreSQL does not parse
    # it each time that it plans a search.
    """
    CREATE FUNCTION clarion_grams(value text) RETURNS text[]
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1000 AS $$
    DECLARE
        grams text[];
    BEGIN
        FOR position IN 1 .. length(value) - 2 LOOP
            grams[position] := substr(value, position, 3);
        END LOOP;
        RETURN grams;
    END
    $$
    """,
    'CREATE INDEX subscribers_email_grams ON subscribers USING gin (clarion_grams(lower(email COLLATE "C")))',
    "CREATE INDEX subscribers_phone_grams ON subscribers USING gin (clarion_grams(phone))",
    "CREATE INDEX subscribers_name_grams ON subscribers USING gin (clarion_grams(full_name))",
    """
    CREATE FUNCTION json_holds(document jsonb, pattern jsonb) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
    DECLARE
        member record;
    BEGIN
        IF jsonb_typeof(pattern) <> 'object' THEN
            RETURN document = pattern;
        END IF;
        IF jsonb_typeof(document) <> 'object' THEN
            RETURN false;
        END IF;
        FOR member IN SELECT key, value FROM jsonb_each(pattern) LOOP
            IF NOT document ? member.key OR NOT json_holds(document -> member.key, member.value) THEN
                RETURN false;
            END IF;
        END LOOP;
        RETURN true;
    END
    $$
    """,
    """
    CREATE FUNCTION json_matches(document text, pattern text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
        SELECT document IS NOT NULL AND json_holds(document::jsonb, pattern::jsonb)
    $$
    """,
    # A condition is a path of one or two keys, and the values that are allowed there.
    """
    CREATE FUNCTION json_has_values(document text, conditions text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
        SELECT document IS NOT NULL AND NOT EXISTS (
            SELECT 1 FROM jsonb_array_elements(conditions::jsonb) AS one
            WHERE NOT EXISTS (
                SELECT 1 FROM jsonb_array_elements(one -> 1) AS wanted
                WHERE CASE jsonb_array_length(one -> 0)
                    WHEN 1 THEN document::jsonb -> (one -> 0 ->> 0)
                    ELSE document::jsonb -> (one -> 0 ->> 0) -> (one -> 0 ->> 1)
                END @> wanted
            )
        )
    $$
    """,
)

# Tables whose rows are deleted from all the time. By default PostgreSQL waits until a fifth of a table is dead: a table
# of ten million rows has up to two million places that are not used again.
_DELETED_FROM = (
    *("triggers", "notifications", "jobs", "messages", "trigger_parts", "digest_events", "throttle_passes"),
    *("webhook_events", "webhook_deliveries", "receipts", "idempotency_keys", "audit_entries"),
)
_VACUUM = "autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000"


def upgrade() -> None:
    # Alembic makes the table of its own before the first migration.
    op.execute("ALTER TABLE alembic_version ADD COLUMN works_with VARCHAR(32)")
    tables = TABLES.read_text()
    if op.get_bind().dialect.name == "sqlite":
        _run_all(tables.replace(" UUID", " BLOB").replace(" BYTEA", " BLOB"), _SQLITE)
    else:
        _run_all(tables.replace(" WITHOUT ROWID", ""), _POSTGRES)
        for table in _DELETED_FROM:
            op.execute(f"ALTER TABLE {table} SET ({_VACUUM})")


def _run_all(tables: str, others: tuple[str, ...]) -> None:
    for statement in (*tables.rstrip(";\n").split(";\n"), *others):
        op.execute(statement)
