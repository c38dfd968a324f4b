"""Events that applications emit, and the steps of runs that wait for them."""

from sqlalchemy import Column, Index, Integer, SmallInteger, Table, text

from clarion.db.schema.columns import Digest, id_, metadata, moment, text_

_PENDING = "pending = 1"
_OF_MANY = "lane = -1"
_HAS_SOURCE = "source_key IS NOT NULL"

emitted_events = Table(
    "emitted_events",  # kept for a while, for steps that look back
    metadata,
    id_("environment_id", key=True),
    id_("id", key=True),
    text_("name"),
    Column("lane", SmallInteger, nullable=False),  # of the person; -1: for a topic or for everyone
    id_("subscriber_id", optional=True),
    id_("topic_id", optional=True),
    Column("source_key", Digest, nullable=True),  # derived from the caller's id and the person
    text_("data"),  # JSON object
    Column("pending", SmallInteger, nullable=False),  # 1 until it was offered to the steps that wait
    id_("position", optional=True),  # of an event for many: the last wait that it was offered to
    moment("created_at"),
    Index(
        "emitted_events_pending",
        "environment_id",
        "created_at",
        "id",
        "lane",
        sqlite_where=text(_PENDING),
        postgresql_where=text(_PENDING),
    ),
    Index(
        "emitted_events_source",
        "environment_id",
        "source_key",
        unique=True,
        sqlite_where=text(_HAS_SOURCE),
        postgresql_where=text(_HAS_SOURCE),
    ),
    Index("emitted_events_person", "environment_id", "subscriber_id", "name", "created_at"),
    Index(
        "emitted_events_many",
        "environment_id",
        "name",
        "created_at",
        sqlite_where=text(_OF_MANY),
        postgresql_where=text(_OF_MANY),
    ),
    Index("emitted_events_age", "created_at"),
)

event_waits = Table(
    "event_waits",
    metadata,
    id_("environment_id", key=True),
    id_("job_id", key=True),
    id_("subscriber_id"),
    Column("lane", SmallInteger, nullable=False),
    text_("event"),
    text_("rule"),  # JSON: waits.model.WaitRule
    moment("since"),
    moment("until"),
    text_("matched", optional=True),  # JSON: the event that it took
    Column("missed", Integer, nullable=False),  # events with its name that it did not take
    text_("last_missed", optional=True),  # JSON: the last of them, with the reason
    Index("event_waits_subscriber", "environment_id", "subscriber_id"),
    Index("event_waits_event", "environment_id", "event", "job_id"),
    Index("event_waits_until", "until"),
)

awaited_events = Table(
    "awaited_events",  # names that a version of a workflow waits for, or did
    metadata,
    id_("environment_id", key=True),
    text_("name", key=True),
)

answers = Table(
    "answers",  # one for each question of a run; also to questions that are not reached yet
    metadata,
    id_("environment_id", key=True),
    id_("notification_id", key=True),
    id_("step_id", key=True),
    id_("subscriber_id", optional=True),  # who answered; NULL: was erased since
    text_("choice"),
    text_("label"),
    text_("way"),  # answers.model.AnswerWay
    moment("answered_at"),
    Index("answers_subscriber", "environment_id", "subscriber_id", "notification_id", "step_id"),
)
