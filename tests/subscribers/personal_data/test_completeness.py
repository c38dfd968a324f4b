"""Export and erasure cover all tables: every column that can name a person is covered, or listed with a reason."""

import pytest
from sqlalchemy import LargeBinary, Text

from clarion.clock import MINUTE
from clarion.db.port import Database
from clarion.db.schema import metadata
from clarion.jsontext import json_text
from clarion.subscribers.personal_data.tables import EXPORTED, PersonTable
from clarion.triggers.attachments import delete_unneeded_files
from tests.engine.support import World
from tests.subscribers.personal_data.support import KEY, export_all, find_traces, list_marks, make_history

ERASED = {
    *("subscribers", "subscriber_channels", "topic_subscriptions", "preferences", "notifications", "jobs", "messages"),
    "context_preferences",
    *("webhook_events", "webhook_event_people", "awaited_receipts", "digest_windows", "digest_events"),
    *("throttle_passes", "triggers", "trigger_attachments", "attachments", "suppressions"),
    *("channel_connections", "channel_endpoints", "schedules", "answers"),
}
"""Tables with data of a person that an erasure deletes or makes anonymous."""

ERASED_THOUGH_SHORT_LIVED = {
    "online_people": "who has a socket open; deleted with the person, and filled by real sockets alone",
    "trigger_parts": "recipients of a large trigger for some seconds; tests/engine/test_erasure.py",
    "erasures": "erasures under way; deleted with the person",
    "http_answers": "answers that runs share; deleted with triggers for the person alone, in tests/sending/requests",
    "http_requests": "sealed requests of HTTP steps under way; deleted with the job, in tests/sending/requests",
    "chat_links": "codes of ten minutes; deleted with the person, in tests/subscribers/addresses/telegram",
    "emitted_events": "kept for an hour; deleted with the person, in tests/engine/test_waits.py",
    "event_waits": "what steps of runs wait for; deleted with the person, in tests/engine/test_waits.py",
}

NOT_OF_PEOPLE = {
    "organizations": "configuration",
    "environments": "configuration",
    "api_keys": "configuration",
    "workflows": "configuration",
    "workflow_versions": "configuration",
    "workflow_version_notes": "configuration; names people of the team",
    "integrations": "configuration",
    "integration_health": "configuration; of failed calls it has the ids of messages and the provider's words",
    "integration_counts": "counts",
    "http_hosts": "servers that HTTP steps call and that fail",
    "mail_reactions": "counts",
    "webhook_endpoints": "configuration",
    "segments": "configuration",
    "awaited_events": "configuration: names of events",
    "schedule_runs": "what schedules did, whomever they are for",
    "topics": "belong to the application; who is subscribed is in topic_subscriptions",
    "audit_entries": "changes of the configuration; of an erased person it has the subscriberId alone",
    "spent_oauth_states": "random ids of attempts to connect a chat, until they would be too old",
    "telegram_webhooks": "configuration",
    "idempotency_keys": "sealed answers, which nothing but the same request can open; deleted after a day",
    "layouts": "configuration",
    "layout_versions": "configuration; names people of the team",
    "translation_groups": "configuration",
    "translations": "configuration",
    "environment_variables": "configuration",
    "environment_variable_values": "configuration",
    "contexts": "belong to the application, such as its tenants; who got messages in them is in their runs",
    "receipts": "hashes of reports",
    "early_reports": "reports of providers, deleted after two minutes",
    "webhook_deliveries": "attempts to deliver events; the events have the data",
    "rate_limit_buckets": "counts requests",
    "retention_progress": "how far old data is deleted",
    "leases": "processes",
    "processes": "processes",
    "socket_hosts": "processes",
    "workers": "processes",
    "members": "people of the team, who do not get messages",
    "member_sessions": "people of the team",
    "member_links": "people of the team",
}

NOT_EXPORTED = {
    "schedules": "their runs are exported; that the application is to trigger again is no data of the person",
    "triggers": "payload, overrides and context are exported with the run; who else was meant is no data of the person",
    "trigger_parts": "becomes runs within seconds",
    "trigger_attachments": "files of the application, which the payload names by their hashes",
    "attachments": "files of the application, deleted when they are sent",
    "online_people": "`isOnline` of the subscriber says it",
    "digest_windows": "the jobs of a digest are exported",
    "digest_events": "the jobs of a digest are exported",
    "throttle_passes": "the jobs that passed are exported",
    "emitted_events": "what a step took of an event is in the job, which is exported; deleted after an hour",
    "event_waits": "the jobs that wait are exported",
    "awaited_receipts": "device tokens, which the channel has too; deleted after a day",
    "webhook_event_people": "which events are about the person; the events are exported",
    "erasures": "an erasure under way",
    "http_answers": "what servers of the application say of a trigger; it does not know for whom that is",
    "http_requests": "sealed, until the step is over; the job tells what was called and what came of it",
    "chat_links": "a code that was given to the person, and works for ten minutes",
}

LEFT_BEHIND = {
    ("triggers", "transaction_key"): "chosen by the application: the same transaction must not be run again",
    ("contexts", "key"): "a tenant of the application, which the trigger named: others belong to it too",
    ("audit_entries", "target_id"): "the proof that the person was erased",
}


def test_every_table_is_erased_or_listed_with_a_reason() -> None:
    listed = [ERASED, set(ERASED_THOUGH_SHORT_LIVED), set(NOT_OF_PEOPLE)]

    assert set().union(*listed) == set(metadata.tables), "say what an erasure does with it, in tests/people"
    assert sum(map(len, listed)) == len(metadata.tables)


def test_every_column_that_can_name_a_person_is_exported_or_listed_with_a_reason() -> None:
    exported = {one.name: one for one in EXPORTED}
    unlisted = [
        f"{table.name}.{column.name}"
        for table in metadata.sorted_tables
        if table.name in exported
        for column in table.columns
        if column.name not in {"environment_id", *exported[table.name].columns, *exported[table.name].omitted}
    ]

    assert unlisted == [], "export it, or say why not, in subscribers/personal_data/tables.py"
    assert set(metadata.tables) == exported.keys() | NOT_EXPORTED.keys() | NOT_OF_PEOPLE.keys()


@pytest.mark.parametrize("table", EXPORTED, ids=lambda one: one.name)
def test_exported_columns_exist_with_their_kinds(table: PersonTable) -> None:
    columns = metadata.tables[table.name].columns

    assert {*table.columns, *table.omitted} <= set(columns.keys())
    for name in table.flags:
        assert not isinstance(columns[name].type, Text | LargeBinary)


async def test_everything_of_a_person_is_exported_and_then_gone(world: World, database: Database) -> None:
    await make_history(world, database)
    await world.work()
    bob = await export_all(world.api, "bob")
    exported = await export_all(world.api, KEY)
    marks = list_marks(exported)
    before = await find_traces(database, world.api, marks)

    erased = await world.api.delete(f"/v2/subscribers/{KEY}")
    world.clock.move(2 * MINUTE)
    await delete_unneeded_files(database, world.clock.now())
    left = await find_traces(database, world.api, marks)

    assert erased.status_code == 200
    assert {table for table, _ in before} >= ERASED
    assert left.keys() == LEFT_BEHIND.keys()
    assert await export_all(world.api, "bob") == bob
    text = json_text(exported)
    stored = [
        "first",
        "last",
        "data",
        "token",
        "payload",
        "queued",
        "tenant",
        "detail",
        "transaction",
        "other",
        "endpoint",
        "answer",
    ]
    assert [one for one in [*stored, "endpoint"] if f"canary-{one}" not in text] == []
    assert {one["kind"] for one in exported} == {one.kind for one in EXPORTED}
