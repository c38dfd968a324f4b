"""Schedules, and what they did."""

from sqlalchemy import BigInteger, Boolean, Column, Index, Table, text

from clarion.db.schema.columns import id_, metadata, moment, text_

schedules = Table(
    "schedules",
    metadata,
    id_("environment_id", key=True),
    id_("id", key=True),
    text_("key"),
    text_("name"),
    text_("workflow"),  # its key or its id, as the caller names it
    text_("recipients", optional=True),  # JSON array, as `to` of a trigger; NULL: everyone
    text_("timing"),  # JSON object: the rule, time zones and bounds
    text_("payload"),  # JSON object
    text_("overrides", optional=True),  # JSON object
    text_("context", optional=True),  # JSON object by type of context
    text_("catch_up"),
    Column("paused", Boolean, nullable=False, server_default=text("FALSE")),
    moment("done_until"),  # all moments up to here are dealt with
    moment("next_at", optional=True),  # when to look at it next; NULL: never
    moment("created_at"),
    moment("updated_at"),
    Index("schedules_key", "environment_id", "key", unique=True),
    Index("schedules_updated", "environment_id", "updated_at", "id"),
    Index(
        "schedules_due",
        "next_at",
        "id",
        sqlite_where=text("next_at IS NOT NULL"),
        postgresql_where=text("next_at IS NOT NULL"),
    ),
)

schedule_runs = Table(
    "schedule_runs",
    metadata,
    id_("environment_id", key=True),
    id_("schedule_id", key=True),
    Column("moment", BigInteger, primary_key=True, autoincrement=False),
    text_("timezone", key=True),  # of the people; empty: all of them, or those without one
    text_("transaction_key", optional=True),  # NULL: nothing was triggered
    text_("trouble", optional=True),
    moment("at"),
    sqlite_with_rowid=False,
)
