"""Filters of triggered events as SQL."""

from typing import Any

from clarion.clock import SECOND, Millis
from clarion.db.port import Dialect
from clarion.errors import Invalid
from clarion.http.pages import Listing
from clarion.ids import EnvironmentId, find_id, first_id
from clarion.jsontext import json_text
from clarion.notifications.model import Notification, hidden_types, step_mask
from clarion.notifications.wire import EventQuery

COLUMNS = ", ".join(f"t.{name}" for name in Notification.__dataclass_fields__)

# Ids from a narrow index, then the rows by id: asked for rows in order of id under such a condition, SQLite would
# walk the environment's events instead.
_OF_TRANSACTIONS = """
    t.id IN (
        SELECT n.id FROM triggers AS g
        JOIN notifications AS n ON n.environment_id = g.environment_id AND n.trigger_id = g.id
        WHERE g.environment_id = :environment_id AND g.transaction_key {any:transaction_keys}
    )
"""
_OF_SUBSCRIBERS = """
    t.id IN (
        SELECT id FROM notifications WHERE environment_id = :environment_id AND subscriber_id IN (%s)
    )
"""
# Each way of naming a subscriber is a query of its own, so that each has its index.
_SUBSCRIBERS = {
    "emails": "SELECT id FROM subscribers WHERE environment_id = :environment_id AND email {any:emails}",
    "subscriber_ids": "SELECT id FROM subscribers WHERE environment_id = :environment_id AND key {any:subscriber_ids}",
    "search": """
        SELECT id FROM subscribers WHERE environment_id = :environment_id
        AND (key = :search OR {position}(lower(email), lower(:search)) > 0)
    """,
}
_OF_TOPIC = {
    Dialect.SQLITE: """
        EXISTS (SELECT 1 FROM json_each(t.topics) AS one WHERE json_extract(one.value, '$.topicKey') = :topic)
    """,
    Dialect.POSTGRES: "CAST(t.topics AS jsonb) @> CAST(:topic AS jsonb)",
}

# An id is never ahead of its row's moment by more than this (see ids: bursts borrow from the next milliseconds).
_MOST_LEAD = 2 * SECOND

Conditions = dict[str, dict[str, Any]]
"""SQL conditions, each with its parameters."""


def filter_events(dialect: Dialect, environment_id: EnvironmentId, query: EventQuery) -> Listing:
    """The events that fit every given filter, where naming subscribers in several ways finds all of them."""
    conditions: Conditions = {
        "t.environment_id = :environment_id": {"environment_id": environment_id},
        **_of_channels(query),
        **_of_templates(query),
        **_of_transactions(query),
        **_of_subscribers(query),
        **_of_topic(dialect, query),
        **_of_window(query),
    }
    parameters = {name: value for bound in conditions.values() for name, value in bound.items()}
    return Listing(columns=COLUMNS, source="notifications AS t", where=" AND ".join(conditions), parameters=parameters)


def _of_channels(query: EventQuery) -> Conditions:
    mask = step_mask(kind for channel in query.channels for kind in hidden_types(channel))
    return {"(t.step_types & :mask) <> 0": {"mask": mask}} if mask else {}


def _of_templates(query: EventQuery) -> Conditions:
    if not query.templates:
        return {}
    ids = [found for text in query.templates if (found := find_id(text)) is not None]
    return {"t.workflow_id {any:templates}": {"templates": ids}}


def _of_transactions(query: EventQuery) -> Conditions:
    return {_OF_TRANSACTIONS: {"transaction_keys": list(query.transaction_id)}} if query.transaction_id else {}


def _of_subscribers(query: EventQuery) -> Conditions:
    wanted = {name: value for name in _SUBSCRIBERS if (value := getattr(query, name))}
    if not wanted:
        return {}
    union = " UNION ".join(_SUBSCRIBERS[name] for name in wanted)
    return {
        _OF_SUBSCRIBERS % union: {
            name: list(value) if isinstance(value, tuple) else value for name, value in wanted.items()
        }
    }


def _of_topic(dialect: Dialect, query: EventQuery) -> Conditions:
    if not query.topic_key:
        return {}
    key = query.topic_key
    return {_OF_TOPIC[dialect]: {"topic": key if dialect is Dialect.SQLITE else json_text([{"topicKey": key}])}}


def _of_window(query: EventQuery) -> Conditions:
    """Events made within the window; bounds on the id let the primary key cut off what lies outside."""
    after, before = query.after, query.before
    if after is not None and before is not None and after.moment > before.moment:
        raise Invalid.field("after", "must not be later than 'before'", str(after))
    conditions: Conditions = {}
    if after is not None:
        conditions["t.created_at >= :after AND t.id >= :after_id"] = {
            "after": after.moment,
            "after_id": first_id(after.moment),
        }
    if before is not None:
        conditions["t.created_at <= :before AND t.id < :before_id"] = {
            "before": before.moment,
            "before_id": first_id(Millis(before.moment + _MOST_LEAD)),
        }
    return conditions
