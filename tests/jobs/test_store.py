"""Events of digests are stored without the payloads, which the triggers have."""

from typing import Any

from clarion.db.port import Connection, Database
from clarion.db.query import sql
from clarion.ids import id_text
from clarion.jobs.store import add_payloads, without_payloads
from tests.support import Api

LIST_TRIGGER_IDS = sql("SELECT id FROM triggers WHERE environment_id = :environment_id ORDER BY id")


def test_a_digest_is_stored_without_the_payloads_of_its_events() -> None:
    events: list[dict[str, Any]] = [{"id": "1", "time": "now", "payload": {"n": 1}}, {"id": "2", "time": "later"}]
    digest = {"type": "regular", "eventCount": 2, "events": events}

    stored = without_payloads(digest)

    assert stored == digest | {"events": [{"id": "1", "time": "now"}, {"id": "2", "time": "later"}]}
    assert "payload" in events[0]


def test_a_digest_without_events_is_stored_as_it_is() -> None:
    for digest in ({"type": "regular", "amount": 1}, {"type": "regular", "events": []}):
        assert without_payloads(digest) == digest


async def test_payloads_are_added_where_they_lack_and_are_empty_where_the_trigger_is_gone(
    api: Api, database: Database
) -> None:
    step = {"name": "Inbox", "type": "in_app", "controlValues": {"body": "x"}}
    workflow = {"name": "W", "workflowId": "w", "active": True, "steps": [step]}
    assert (await api.post("/v2/workflows", json=workflow)).status_code == 201
    for number in range(2):
        body = {"name": "w", "to": "ada", "payload": {"n": number}}
        assert (await api.post("/v1/events/trigger", json=body)).status_code == 201
    scope = {"environment_id": api.environment.id}
    first, second = [row["id"] for row in await database.read(lambda db: db.fetch(LIST_TRIGGER_IDS, **scope))]
    events: list[dict[str, Any]] = [
        {"id": id_text(first)},
        {"id": id_text(second), "payload": "its own"},
        {"id": id_text(bytes(16))},
        {"id": "no id at all"},
    ]

    async def add(db: Connection) -> None:
        await add_payloads(db, api.environment.id, events)
        await add_payloads(db, api.environment.id, [])

    await database.read(add)

    assert [one["payload"] for one in events] == [{"n": 0}, "its own", {}, {}]
