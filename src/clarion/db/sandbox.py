"""Sandboxes: units of work that read the store and write into temporary tables that hide the real ones.

Nothing that they write reaches the store: SQLite's connection is opened for reading only, and PostgreSQL's transaction
is read-only, which leaves temporary tables writable. The tables are empty at first, and their rows are rolled back at
the end. No row of the store is locked.
"""

from collections.abc import Sequence

from clarion.db.query import Query, sql

HIDDEN_TABLES = (
    *("triggers", "trigger_parts", "attachments", "trigger_attachments", "notifications", "jobs", "messages"),
    *("digest_windows", "digest_events", "throttle_passes", "integration_health", "integration_counts"),
    "awaited_receipts",
    *("subscribers", "topic_subscriptions", "preferences"),
    *("workflows", "workflow_versions"),
    *("webhook_endpoints", "webhook_events", "webhook_event_people", "webhook_deliveries"),
)
"""What is written by accepting triggers and by the engine; without endpoints there are no webhooks."""


def stored_query(text: str, schema: str) -> Query:
    """A statement in which `stored.jobs` is the table of the store, which is in `schema`."""
    return sql(text.replace("stored.", f"{schema}."))


def copy_query(table: str, columns: Sequence[str], where: str, schema: str) -> Query:
    """A statement that copies rows of the store into the table that hides them."""
    names, values = ", ".join(columns), ", ".join(f"t.{name}" for name in columns)
    text = (
        f"INSERT INTO {table} ({names}) SELECT {values} FROM stored.{table} AS t WHERE {where} ON CONFLICT DO NOTHING"
    )
    return stored_query(text, schema)
