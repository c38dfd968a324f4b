"""What happens: triggers, runs, jobs, messages, digests, throttles, and the workers that do it."""

from sqlalchemy import BigInteger, Column, Index, Integer, LargeBinary, SmallInteger, Table, text
from sqlalchemy.dialects.postgresql import BYTEA

from clarion.db.schema.columns import Hash, flag, id_, metadata, moment, text_

triggers = Table(
    "triggers",
    metadata,
    id_("environment_id", key=True),
    id_("id", key=True),
    text_("transaction_key"),
    id_("workflow_id"),
    id_("version_id"),
    text_("payload"),  # JSON object
    text_("overrides", optional=True),  # JSON object
    moment("created_at"),
    text_(
        "state", default="done"
    ),  # scheduled until its moment, queued or splitting until all are with their lanes; then an end
    Column("priority", SmallInteger, nullable=False, server_default="1"),  # jobs.model.Priority
    Column("lane", SmallInteger, nullable=False, server_default="0"),  # of its people, while it is queued
    text_("recipients", optional=True),  # JSON: whom it is for, as accepted
    text_("position", optional=True),  # JSON: how far splitting has come
    text_("context", optional=True),  # JSON object by type of context
    text_("trace_context", optional=True),  # the `traceparent` of the request that triggered it
    text_("warnings", optional=True),  # JSON array: what the response warned of
    Column("repeats", Integer, nullable=True),  # how often its transaction was sent again; NULL: never
    moment("accepted_at", optional=True),  # where it is for a later moment, which is `created_at`
    moment("expires_at", optional=True),  # what has not begun by then is not done any more
    moment("repeated_at", optional=True),  # when it was sent again last
    id_("caused_by", optional=True),  # the run whose step triggered it; NULL: a caller
    moment("runs_deleted_at", optional=True),  # when retention first deleted runs of it
    Index("triggers_transaction", "environment_id", "transaction_key", unique=True),
    Index(
        "triggers_queued",
        "environment_id",
        "priority",
        "id",
        "lane",
        sqlite_where=text("state = 'queued'"),
        postgresql_where=text("state = 'queued'"),
    ),
    Index(
        "triggers_due",
        "created_at",
        "id",
        sqlite_where=text("state = 'scheduled'"),
        postgresql_where=text("state = 'scheduled'"),
    ),
    Index(
        "triggers_scheduled",
        "environment_id",
        "lane",
        sqlite_where=text("state = 'scheduled'"),
        postgresql_where=text("state = 'scheduled'"),
    ),
    Index(
        "triggers_canceling",
        "environment_id",
        "id",
        sqlite_where=text("state = 'canceling'"),
        postgresql_where=text("state = 'canceling'"),
    ),
    Index(
        "triggers_splitting",
        "environment_id",
        "priority",
        "id",
        sqlite_where=text("state = 'splitting'"),
        postgresql_where=text("state = 'splitting'"),
    ),
)

trigger_parts = Table(
    "trigger_parts",  # recipients of a trigger in one lane who have no run yet
    metadata,
    id_("environment_id", key=True),
    id_("id", key=True),
    id_("trigger_id"),
    Column("priority", SmallInteger, nullable=False),
    Column("lane", SmallInteger, nullable=False),
    Column("topic", SmallInteger, nullable=True),  # which of the trigger's topics they are members of
    Column("subscriber_ids", LargeBinary().with_variant(BYTEA(), "postgresql"), nullable=False),  # 16 bytes each
    Index("trigger_parts_queued", "environment_id", "priority", "trigger_id", "id", "lane"),
    Index("trigger_parts_trigger", "environment_id", "trigger_id"),
)

attachments = Table(
    "attachments",  # files that triggers attach, each once
    metadata,
    id_("environment_id", key=True),
    Column("hash", Hash, primary_key=True),  # of the content
    moment("used_at"),  # when a trigger last attached it
    text_("content"),  # base64, as the caller sent it; behind the others, which are read without it
)

trigger_attachments = Table(
    "trigger_attachments",  # while a run of the trigger needs them
    metadata,
    id_("environment_id", key=True),
    id_("trigger_id", key=True),
    Column("hash", Hash, primary_key=True),
    moment("check_at"),  # when to look whether a run still needs it
    Index("trigger_attachments_hash", "environment_id", "hash"),
    Index("trigger_attachments_check", "check_at"),
    sqlite_with_rowid=False,
)

notifications = Table(
    "notifications",
    metadata,
    id_("environment_id", key=True),
    id_("id", key=True),
    id_("trigger_id"),
    id_("workflow_id"),
    id_("version_id"),
    id_("subscriber_id"),
    Column("step_types", Integer, nullable=False),  # one bit for each step type of the run
    text_("recipient", optional=True),  # JSON: the recipient as the caller wrote it
    text_("topics", optional=True),  # JSON array of {_topicId, topicKey}
    id_("digested_into", optional=True),
    moment("created_at"),
    moment("updated_at"),
    Column("status", SmallInteger, nullable=True),  # jobs.run_status.STORED; NULL: an earlier version inserted it
    Index("notifications_recipient", "environment_id", "trigger_id", "subscriber_id", unique=True),
    Index("notifications_subscriber", "environment_id", "subscriber_id", "id"),
    Index("notifications_trigger", "environment_id", "trigger_id", "id"),
    Index("notifications_workflow", "environment_id", "workflow_id", "step_types", "id"),
    Index(
        "notifications_digested",
        "environment_id",
        "digested_into",
        sqlite_where=text("digested_into IS NOT NULL"),
        postgresql_where=text("digested_into IS NOT NULL"),
    ),
    # Most runs are complete when they are inserted: neither of these has them.
    Index(
        "notifications_status",
        "environment_id",
        "status",
        "id",
        sqlite_where=text("status <> 3"),
        postgresql_where=text("status <> 3"),
    ),
    Index(
        "notifications_changed",
        "environment_id",
        "updated_at",
        "id",
        sqlite_where=text("updated_at <> created_at"),
        postgresql_where=text("updated_at <> created_at"),
    ),
)

jobs = Table(
    "jobs",
    metadata,
    id_("environment_id", key=True),
    id_("id", key=True),
    id_("notification_id"),
    Column("step", SmallInteger, nullable=False),  # position in the workflow version
    text_("type"),
    text_("status"),
    text_("provider_id", optional=True),
    text_("digest", optional=True),  # JSON object
    text_("details"),  # JSON array of execution details
    moment("due_at", optional=True),
    Column("attempt", Integer, nullable=False, server_default="0"),
    Column("queue", SmallInteger, nullable=True),  # jobs.model.JobQueue: who takes it when it is due
    Column("lane", SmallInteger, nullable=False, server_default="0"),  # of its person
    Column("priority", SmallInteger, nullable=False, server_default="2"),  # jobs.model.Priority
    text_("outputs", optional=True),  # JSON: what later steps see of this one
    moment("put_off_since", optional=True),  # when it first had to wait for its provider
    moment("dead_at", optional=True),  # when the last attempt to send one of its messages failed, until redriven
    moment("changed_at", optional=True),  # when a message of it was changed that a provider has or may have by now
    moment("created_at"),
    moment("updated_at"),
    Index("jobs_step", "environment_id", "notification_id", "step", unique=True),
    Index(
        "jobs_decide",
        "environment_id",
        "due_at",
        "id",
        "lane",
        sqlite_where=text("queue = 1"),
        postgresql_where=text("queue = 1"),
    ),
    Index(
        "jobs_due",
        "due_at",
        "environment_id",
        sqlite_where=text("queue = 1"),
        postgresql_where=text("queue = 1"),
    ),
    Index(
        "jobs_send",
        "environment_id",
        "type",
        "priority",
        "due_at",
        "id",
        sqlite_where=text("queue = 2"),
        postgresql_where=text("queue = 2"),
    ),
    Index(
        "jobs_dead",
        "environment_id",
        "dead_at",
        "id",
        sqlite_where=text("dead_at IS NOT NULL"),
        postgresql_where=text("dead_at IS NOT NULL"),
    ),
)

digest_windows = Table(
    "digest_windows",
    metadata,
    id_("environment_id", key=True),
    id_(
        "id", key=True
    ),  # derived from workflow, step, subscriber and the value of digestKey; or from such an id, of a full window
    id_("subscriber_id"),
    Column("generation", Integer, nullable=False),  # how often it was opened
    id_("leader_id", optional=True),  # the job that goes on when it closes; NULL while it is closed
    id_("leader_run_id", optional=True),  # the notification of that job
    moment("closes_at", optional=True),
    moment("last_event_at"),
    moment("closes_by", optional=True),  # until when further events may extend it; NULL: they do not
    Column("items", Integer, nullable=True),  # at least so many events as count are in it; NULL: not counted
    Index("digest_windows_subscriber", "environment_id", "subscriber_id"),
)

digest_events = Table(
    "digest_events",
    metadata,
    id_("environment_id", key=True),
    id_("window_id", key=True),
    Column("generation", Integer, primary_key=True),
    id_("job_id", key=True),
    id_("trigger_id"),
    Column("sort_key", LargeBinary().with_variant(BYTEA(), "postgresql"), nullable=True),  # the first are shown
    Index("digest_events_job", "environment_id", "job_id"),
    sqlite_with_rowid=False,
)

throttle_passes = Table(
    "throttle_passes",
    metadata,
    id_("environment_id", key=True),
    id_("throttle_id", key=True),  # derived from step, subscriber and the value of throttleKey
    Column("passed_at", BigInteger, primary_key=True),
    id_("job_id", key=True),
    id_("subscriber_id"),
    Index("throttle_passes_subscriber", "environment_id", "subscriber_id"),
    sqlite_with_rowid=False,
)

_UNREAD = "channel = 'in_app' AND NOT read AND NOT archived AND snoozed_until IS NULL"

messages = Table(
    "messages",
    metadata,
    id_("environment_id", key=True),
    id_("id", key=True),
    id_("notification_id"),
    id_("job_id"),
    id_("trigger_id"),
    id_("workflow_id"),
    id_("step_id"),
    id_("subscriber_id"),
    text_("channel"),
    text_("provider_id", optional=True),
    id_("integration_id", optional=True),  # which it was handed to
    text_("provider_message_id", optional=True),  # how the provider calls it
    text_("delivery", optional=True),  # JSON object: what receipts told, each kind with its moment
    text_("status"),
    text_("content"),
    text_("subject", optional=True),
    text_("title", optional=True),
    text_("email", optional=True),
    text_("email_options", optional=True),  # JSON object: sender, copies, headers that the step asks for
    text_("phone", optional=True),
    text_("webhook_url", optional=True),
    id_("endpoint_id", optional=True),  # the channel endpoint that it goes to
    text_("device_tokens", optional=True),  # JSON array
    text_("cta", optional=True),  # JSON object
    text_("avatar", optional=True),
    text_("data", optional=True),  # JSON object
    text_("severity"),
    flag("seen"),
    flag("read"),
    flag("archived"),
    moment("seen_at", optional=True),
    moment("read_at", optional=True),
    moment("archived_at", optional=True),
    moment("snoozed_until", optional=True),
    text_("delivered_at", optional=True),  # JSON array of moments
    text_("error_id", optional=True),
    text_("error_text", optional=True),
    moment("retry_at", optional=True),  # not sent before this moment, after an attempt that failed
    moment("given_up_at", optional=True),  # when the last attempt to send it failed; NULL again when it is redriven
    # JSON array of the ids of integrations that refused it for good and are not asked again; NULL when it is redriven.
    text_("refused_by", optional=True),
    text_("context_keys", optional=True),  # JSON array, sorted: the contexts of its trigger
    text_("tracking", optional=True),  # JSON object: whether opens and clicks are tracked, and what was counted
    text_("unsubscribe_url", optional=True),  # what mail programs unsubscribe with
    # Its place in the inbox: its id, or since it came back from a snooze a newer one. Never NULL, but SQLite cannot
    # add such a column to an existing table.
    id_("position", optional=True),
    text_("place", optional=True),  # JSON object: where the provider put it, beside its id
    text_("change", optional=True),  # messages.changes.ChangeState: what became of its last change
    text_("change_reason", optional=True),  # why it could not be changed
    text_("former", optional=True),  # JSON object: what the provider has, while new content is on its way to it
    moment("changed_at", optional=True),
    Column("revision", Integer, nullable=True),  # how often it was changed; NULL: never
    moment("created_at"),
    moment("updated_at"),
    # With all that the feed asks for, so that it is counted without its messages.
    Index(
        "messages_subscriber",
        "environment_id",
        "subscriber_id",
        "channel",
        "archived",
        "position",
        "seen",
        "read",
        "snoozed_until",
    ),
    # The environment is last, so that nothing but the person is searched for: PostgreSQL without statistics takes an
    # environment for as rare as a person, and might read all messages of it by another index.
    Index(
        "messages_unread",
        "subscriber_id",
        "severity",
        "seen",
        "position",
        "context_keys",
        "environment_id",
        sqlite_where=text(_UNREAD),
        postgresql_where=text(_UNREAD),
    ),
    Index(
        "messages_snoozed",
        "environment_id",
        "subscriber_id",
        "position",
        sqlite_where=text("snoozed_until IS NOT NULL"),
        postgresql_where=text("snoozed_until IS NOT NULL"),
    ),
    Index(
        "messages_wake",
        "snoozed_until",
        "environment_id",
        "id",
        sqlite_where=text("snoozed_until IS NOT NULL"),
        postgresql_where=text("snoozed_until IS NOT NULL"),
    ),
    Index("messages_trigger", "environment_id", "trigger_id", "id"),
    # In-app messages are never looked for by their job.
    Index(
        "messages_job",
        "environment_id",
        "job_id",
        sqlite_where=text("channel <> 'in_app'"),
        postgresql_where=text("channel <> 'in_app'"),
    ),
    Index(
        "messages_provider",
        "environment_id",
        "provider_message_id",
        sqlite_where=text("provider_message_id IS NOT NULL"),
        postgresql_where=text("provider_message_id IS NOT NULL"),
    ),
    Index("messages_channel", "environment_id", "channel", "id"),
)

workers = Table(
    "workers",  # that are alive, on PostgreSQL
    metadata,
    id_("id", key=True),
    moment("seen_at"),  # the last heartbeat
)
