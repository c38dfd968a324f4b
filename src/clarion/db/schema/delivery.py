"""What happens outside: the health of providers, their receipts, addresses that are not written to, webhooks."""

from sqlalchemy import BigInteger, Column, Float, Index, Integer, SmallInteger, Table, text

from clarion.db.schema.columns import Digest, flag, id_, metadata, moment, text_

integration_health = Table(
    "integration_health",
    metadata,
    id_("environment_id", key=True),
    id_("integration_id", key=True),
    Column("failures", Integer, nullable=False, server_default="0"),  # in a row
    moment("open_until", optional=True),  # nothing is sent through it until then; NULL while all is well
    Column("allowance", Float, nullable=False, server_default="0"),  # messages that its rate limit still allows
    moment("refilled_at"),  # when the allowance was counted last
    text_("errors", optional=True),  # JSON array: the newest calls that failed
    sqlite_with_rowid=False,
)

integration_counts = Table(
    "integration_counts",  # calls of providers in each hour
    metadata,
    id_("environment_id", key=True),
    id_("id", key=True),  # the hour, as the lowest id of it
    id_("integration_id", key=True),
    Column("slot", SmallInteger, primary_key=True),  # workers add to different rows, and do not wait for each other
    Column("sent", Integer, nullable=False),
    Column("failed", Integer, nullable=False),
    Column("milliseconds", BigInteger, nullable=False),  # that all calls took together
    Column("slowest", Integer, nullable=False),  # milliseconds of the call that took longest
    sqlite_with_rowid=False,
)

mail_reactions = Table(
    "mail_reactions",  # e-mails that were opened, clicked and replied to for the first time in each hour
    metadata,
    id_("environment_id", key=True),
    id_("id", key=True),  # the hour, as the lowest id of it
    id_("workflow_id", key=True),
    Column("slot", SmallInteger, primary_key=True),  # as that of integration_counts
    Column("opened", Integer, nullable=False),
    Column("clicked", Integer, nullable=False),
    Column("replied", Integer, nullable=False),
    sqlite_with_rowid=False,
)

suppressions = Table(
    "suppressions",
    metadata,
    id_("environment_id", key=True),
    text_("channel", key=True),
    text_("address", key=True),  # as compared: a folded e-mail address, a phone number of digits
    text_("reason"),
    text_("provider_id", optional=True),
    id_("message_id", optional=True),
    text_("detail", optional=True),  # what the provider said
    moment("created_at"),
    Index("suppressions_recent", "environment_id", "created_at", "address"),
    sqlite_with_rowid=False,
)

receipts = Table(
    "receipts",
    metadata,
    id_("environment_id", key=True),
    Column("digest", Digest, primary_key=True),  # of the integration and the vendor's event: each counts once
    moment("received_at"),
    Index("receipts_age", "received_at"),
    sqlite_with_rowid=False,
)

awaited_receipts = Table(
    "awaited_receipts",  # that a provider is asked for, since it tells nobody by itself
    metadata,
    id_("environment_id", key=True),
    id_("integration_id", key=True),
    text_("ticket", key=True),  # the provider's name of what one recipient was sent
    id_("message_id"),
    text_("recipient"),
    flag("is_partial"),  # whether the message had other recipients as well
    moment("sent_at"),
    moment("ask_at"),
    Index("awaited_receipts_due", "ask_at"),
    Index("awaited_receipts_message", "environment_id", "message_id"),
)

early_reports = Table(
    "early_reports",  # of messages whose send is not recorded yet, or that are not ours
    metadata,
    id_("environment_id", key=True),
    id_("integration_id", key=True),
    Column("digest", Digest, primary_key=True),  # as in `receipts`
    text_("report"),  # JSON object
    moment("received_at"),
)

webhook_endpoints = Table(
    "webhook_endpoints",
    metadata,
    id_("environment_id", key=True),
    id_("id", key=True),
    text_("url"),
    text_("description", optional=True),
    text_("events"),  # JSON array; empty is all
    text_("secret"),  # sealed
    flag("active"),
    text_("disabled_reason", optional=True),
    moment("failing_since", optional=True),
    moment("created_at"),
    moment("updated_at"),
)

webhook_events = Table(
    "webhook_events",
    metadata,
    id_("environment_id", key=True),
    id_("id", key=True),
    text_("type"),
    text_("payload"),  # JSON object, as it is sent
    moment("created_at"),
    text_("url", optional=True),  # where a reply callback goes instead of the URL of its endpoint
)

webhook_event_people = Table(
    "webhook_event_people",  # whom events are about; a table of its own, to find the few events of a person
    metadata,
    id_("environment_id", key=True),
    id_("subscriber_id", key=True),
    id_("event_id", key=True),
    Index("webhook_event_people_event", "environment_id", "event_id"),
    sqlite_with_rowid=False,
)

webhook_deliveries = Table(
    "webhook_deliveries",
    metadata,
    id_("environment_id", key=True),
    id_("id", key=True),
    id_("endpoint_id"),
    id_("event_id"),
    text_("status"),  # queued, delivered, failed
    Column("attempt", Integer, nullable=False),
    moment("due_at", optional=True),
    Column("response_status", Integer, nullable=True),
    text_("error_text", optional=True),
    moment("created_at"),
    moment("updated_at"),
    text_("attempt_log", optional=True),  # JSON array: the newest attempts
    Index(
        "webhook_deliveries_due",
        "environment_id",
        "endpoint_id",
        "due_at",
        "id",
        sqlite_where=text("status = 'queued'"),
        postgresql_where=text("status = 'queued'"),
    ),
    Index("webhook_deliveries_endpoint", "environment_id", "endpoint_id", "id"),
)
