"""What running an installation needs: the audit log, rate limits, live processes, and the deletion of old data."""

from sqlalchemy import BigInteger, Column, Float, Index, Integer, Table

from clarion.db.schema.columns import id_, metadata, moment, text_

audit_entries = Table(
    "audit_entries",  # changes of the configuration, and who made them
    metadata,
    id_("environment_id", key=True),
    id_("id", key=True),
    text_("action"),  # such as workflow.update
    text_("target_type"),
    text_("target_id"),  # as the API shows it
    text_("target_name", optional=True),
    text_("actor_type"),  # key, member, command line, service
    text_("actor_id", optional=True),
    text_("actor_name", optional=True),  # as it was then
    text_("request_id", optional=True),
    text_("before", optional=True),  # JSON object of what changed, without secrets
    text_("after", optional=True),
    moment("created_at"),
    Index("audit_entries_target", "environment_id", "target_type", "target_id", "id"),
    Index("audit_entries_actor", "environment_id", "actor_id", "id"),
)

rate_limit_buckets = Table(
    "rate_limit_buckets",  # that API processes share
    metadata,
    id_("environment_id", key=True),
    text_("category", key=True),
    Column("tokens", Float, nullable=False),
    moment("refilled_at"),  # when the tokens were counted last
    sqlite_with_rowid=False,
)

processes = Table(
    "processes",  # that are alive
    metadata,
    id_("id", key=True),
    text_("kind"),  # serve, api, worker
    text_("host"),
    Column("pid", Integer, nullable=False),
    text_("version"),
    moment("started_at"),
    moment("seen_at"),  # the last heartbeat, by the clock of the database
    moment("clock_at"),  # the same moment, by the clock of the process
    text_("report"),  # JSON object: what the process says of itself
)

retention_progress = Table(
    "retention_progress",  # how far the deletion of old data has come
    metadata,
    id_("environment_id", key=True),  # zeros for tables that are walked for all environments at once
    text_("walk", key=True),  # the name of what is walked, in the order of its keys
    id_("position"),  # the last key that was looked at
    moment("swept_at"),  # when the walk last began at the first key: what was still needed then is looked at again
    Column("deleted", BigInteger, nullable=False),  # rows, since the beginning
    sqlite_with_rowid=False,
)

leases = Table(
    "leases",  # of work that one process at a time does
    metadata,
    text_("name", key=True),
    id_("owner"),  # a process
    moment("until"),
    sqlite_with_rowid=False,
)
