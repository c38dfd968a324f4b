"""Text search over subscribers by index, and partial matching of JSON inside PostgreSQL."""

from alembic import op

from clarion.db.online import replace_index

revision = "0002"
down_revision = "0001"

_SQLITE = (
    # A row for each subscriber under its search_row; trigrams find any text of three characters or more.
    """
    CREATE VIRTUAL TABLE subscriber_search
    USING fts5(email, phone, full_name, tokenize = 'trigram case_sensitive 1', detail = 'full')
    """,
    """
    CREATE TRIGGER subscriber_search_insert AFTER INSERT ON subscribers BEGIN
        INSERT INTO subscriber_search (rowid, email, phone, full_name)
        VALUES (new.search_row, new.email, new.phone, new.full_name);
    END
    """,
    """
    CREATE TRIGGER subscriber_search_update
    AFTER UPDATE OF email, phone, first_name, last_name ON subscribers BEGIN
        UPDATE subscriber_search SET email = new.email, phone = new.phone, full_name = new.full_name
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
    # Trigrams by a plain function and core GIN: needs no extension. The cost makes the planner check cheap
    # conditions first where it walks rows.
    """
    CREATE FUNCTION clarion_grams(value text) RETURNS text[]
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1000 AS $$
        SELECT array_agg(DISTINCT substr(value, position, 3)) FROM generate_series(1, length(value) - 2) AS position
    $$
    """,
    """
    CREATE FUNCTION json_matches(document text, pattern text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
        SELECT document IS NOT NULL AND json_holds(document::jsonb, pattern::jsonb)
    $$
    """,
)

_POSTGRES_HOLDS = """
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
"""


_POSTGRES_INDEXES = {
    "subscribers_email_grams": "email",
    "subscribers_phone_grams": "phone",
    "subscribers_name_grams": "full_name",
}


def upgrade() -> None:
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    for statement in _SQLITE if is_sqlite else (_POSTGRES_HOLDS, *_POSTGRES):
        op.execute(statement)
    if not is_sqlite:
        for name, column in _POSTGRES_INDEXES.items():
            replace_index(name, f"ON subscribers USING gin (clarion_grams({column}))")
