"""Explanations find what they need by indexes, however many people a trigger is for."""

from typing import Any

import pytest

from clarion.db.port import Database, Dialect
from clarion.db.query import Query
from clarion.explain import store, trigger_store
from clarion.triggers.transactions import NOTE_REPEATS
from tests.plans import explain
from tests.support import Site

ID = bytes(16)
FOUND_BY: list[tuple[Query, str]] = [
    (store.LIST_JOBS, "jobs_step (environment_id=? AND notification_id=?)"),
    (store.LIST_MESSAGES, "messages_job (environment_id=? AND job_id=?)"),
    (store.LIST_IN_APP_MESSAGES, "messages_subscriber (environment_id=? AND subscriber_id=? AND channel=? AND arch"),
    (
        store.LIST_MOVED_MESSAGES,
        "messages_trigger (environment_id=? AND (trigger_id,id)>(?,?) AND (trigger_id,id)<(?,?))",
    ),
    (trigger_store.FIND_ERASURE, "audit_entries_target (environment_id=? AND target_type=? AND target_id=?)"),
    (trigger_store.LIST_KEYS_BEFORE, "subscribers_key (environment_id=? AND key<?)"),
    (trigger_store.LIST_KEYS_AFTER, "subscribers_key (environment_id=? AND key>?)"),
    (trigger_store.LIST_SPELLINGS, "subscribers_key (environment_id=? AND key=?)"),
    (trigger_store.FIND_FACTS, "triggers USING INDEX sqlite_autoindex_triggers_1 (environment_id=? AND id=?)"),
    (trigger_store.LIST_TOPICS, "topics USING COVERING INDEX sqlite_autoindex_topics_1 (environment_id=? AND id=?)"),
    (NOTE_REPEATS, "triggers_transaction (environment_id=? AND transaction_key=?)"),
    (store.LIST_SWITCHES, "PRIMARY KEY (environment_id=? AND subscriber_id=? AND workflow_id=?)"),
    (
        trigger_store.LIST_RUNS_OF_TRIGGERS,
        "notifications_recipient (environment_id=? AND trigger_id=? AND subscriber_id=?)",
    ),
    (trigger_store.LIST_MEMBERSHIPS, "topic_subscriptions_member (environment_id=? AND topic_id=? AND subscriber_id=?"),
    (trigger_store.LIST_RECIPIENT_BATCHES, "trigger_parts_queued (environment_id=? AND priority=? AND trigger_id=?)"),
    (trigger_store.LIST_RECENT_RUNS, "notifications_subscriber (environment_id=? AND subscriber_id=?)"),
    (
        trigger_store.LIST_RECENT_TRIGGERS,
        "triggers USING INDEX sqlite_autoindex_triggers_1 (environment_id=? AND id<?)",
    ),
    (trigger_store.LIST_SCHEDULED_TRIGGERS, "triggers_scheduled (environment_id=?)"),
    (
        trigger_store.FIND_NEWEST_RUN,
        "notifications_workflow (environment_id=? AND workflow_id=? AND step_types=? AND id<?)",
    ),
    (trigger_store.FIND_FIRST_RUN, "notifications_trigger (environment_id=? AND trigger_id=?)"),
    (trigger_store.NEXT_STEP_TYPES, "notifications_workflow (environment_id=? AND workflow_id=? AND step_types>?)"),
]
VALUES: dict[str, Any] = {
    **dict.fromkeys(("notification_id", "subscriber_id", "trigger_id", "workflow_id", "first", "last", "before"), ID),
    **{name: [ID] for name in ("job_ids", "workflow_ids", "trigger_ids", "topic_ids")},
    "id": ID,
    "ids": [ID],
    "key": "ada",
    "keys": ["ada"],
    "transaction_key": "a",
    "count": 1,
    "now": 1,
    "target_type": "subscriber",
    "action": "subscriber.erase",
    "priorities": [0, 1, 2, 3],
    "lane": 1,
    "looked_at": 500,
    "limit": 10,
    "step_types": 1,
    "after": -1,
}


_BOUNDED = {"recent", "kept", "archived", "moved"}


@pytest.mark.parametrize(("query", "index"), FOUND_BY)
async def test_an_explanation_walks_indexes(database: Database, site: Site, query: Query, index: str) -> None:
    values = {name: value for name, value in VALUES.items() if name in query.names}

    plan = await explain(database, query, environment_id=site.development.id, **values)

    if database.dialect is Dialect.POSTGRES:
        # It chooses among indexes by the statistics of the tests' tables.
        assert "Seq Scan" not in plan
        assert query is not store.LIST_IN_APP_MESSAGES or plan.count("messages_subscriber") == 2, plan
        return
    assert index in plan, plan
    # The outer query of a bounded one reads its few rows.
    assert not [
        line for line in plan.splitlines() if line.startswith("SCAN") and not _BOUNDED.intersection(line.split())
    ], plan
