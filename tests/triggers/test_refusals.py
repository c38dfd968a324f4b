"""Triggers that are refused or not run, with the field and the reason."""

import json
from typing import Any

import httpx
import pytest

from clarion.db.port import Database
from clarion.db.query import sql
from tests.support import Api
from tests.workflows.test_payloads import TWICE, make_nested

INBOX = {"name": "Inbox", "type": "in_app", "controlValues": {"body": "Hello"}}
CIRCULAR = {"$ref": "#"}
SET_SCHEMA = sql("UPDATE workflow_versions SET payload_schema = :schema WHERE environment_id = :environment_id")
COUNT_TRIGGERS = sql("SELECT count(*) AS n FROM triggers WHERE environment_id = :environment_id")


async def make_workflow(api: Api, *, key: str = "welcome", **fields: Any) -> None:
    body = {"name": "W", "workflowId": key, "active": True, "steps": [INBOX], "validatePayload": True, **fields}
    response = await api.post("/v2/workflows", json=body)
    assert response.status_code == 201, response.text


async def trigger(api: Api, **fields: Any) -> httpx.Response:
    return await api.post("/v1/events/trigger", json={"name": "welcome", "to": "ada", **fields})


async def count_triggers(api: Api, database: Database) -> int:
    row = await database.read(lambda db: db.fetch_one(COUNT_TRIGGERS, environment_id=api.environment.id))
    return 0 if row is None else int(row["n"])


@pytest.mark.parametrize(
    ("steps", "status"),
    [
        ([], "no_workflow_steps_defined"),
        ([INBOX | {"active": False}], "no_workflow_active_steps_defined"),
        ([INBOX | {"active": False}, INBOX], "processed"),
    ],
)
async def test_a_workflow_without_steps_to_run_is_told_and_not_run(
    api: Api, database: Database, steps: list[Any], status: str
) -> None:
    await make_workflow(api, steps=steps)

    response = await trigger(api)

    assert (response.status_code, response.json()["status"]) == (201, status)
    assert await count_triggers(api, database) == int(status == "processed")


async def test_a_payload_that_takes_too_much_work_to_check_is_refused(api: Api, database: Database) -> None:
    await make_workflow(api, payloadSchema=TWICE)

    response = await trigger(api, payload=make_nested(40))

    assert (response.status_code, list(response.json()["errors"])) == (422, ["payload"])
    assert "steps" in response.json()["message"]
    assert await count_triggers(api, database) == 0


async def test_payloads_of_one_request_are_checked_as_far_as_their_common_budget_goes(
    api: Api, database: Database
) -> None:
    await make_workflow(api, payloadSchema=TWICE)
    payload = make_nested(10)
    assert (await trigger(api, payload=payload)).status_code == 201

    events = [{"name": "welcome", "to": "ada", "payload": payload}] * 100
    answers = (await api.post("/v1/events/trigger/bulk", json={"events": events})).json()

    statuses = [one["status"] for one in answers]
    taken = statuses.count("processed")
    assert 0 < taken < 100
    assert statuses == ["processed"] * taken + ["error"] * (100 - taken)
    assert "send fewer events" in answers[-1]["error"][0]
    assert await count_triggers(api, database) == taken + 1


async def test_a_schema_that_was_saved_before_the_limits_is_named_with_the_way_out(
    api: Api, database: Database
) -> None:
    await make_workflow(api, payloadSchema={"type": "object"})
    scope = {"environment_id": api.environment.id, "schema": json.dumps(CIRCULAR)}
    assert await database.transaction(lambda db: db.execute(SET_SCHEMA, **scope)) == 1

    response = await trigger(api, payload={"a": 1})

    assert (response.status_code, list(response.json()["errors"])) == (422, ["payload"])
    assert response.json()["message"].endswith("save the workflow with another one")


async def test_a_payload_may_be_as_large_as_the_limit_and_no_larger(api: Api) -> None:
    await make_workflow(api)
    room = 256 * 1024 - len(b'{"text":""}')

    fits, too_large = [await trigger(api, payload={"text": "x" * length}) for length in (room, room + 1)]

    assert (fits.status_code, too_large.status_code) == (201, 422)
    assert "262144" in too_large.text


async def test_a_trigger_has_up_to_a_hundred_recipients_and_a_bulk_up_to_a_hundred_events(api: Api) -> None:
    await make_workflow(api)
    event = {"name": "welcome", "to": "ada"}
    people = [f"p{number}" for number in range(101)]

    triggers = [await trigger(api, to=people[:count]) for count in (100, 101)]
    bulks = [await api.post("/v1/events/trigger/bulk", json={"events": [event] * count}) for count in (100, 101)]

    assert [one.status_code for one in (*triggers, *bulks)] == [201, 422, 201, 422]
    assert [list(one.json()["errors"]) for one in (triggers[1], bulks[1])] == [["to"], ["events"]]


@pytest.mark.parametrize("validates", [True, False])
async def test_a_schema_is_a_rule_only_where_the_workflow_says_so(api: Api, validates: bool) -> None:
    schema = {"type": "object", "required": ["n"]}
    await make_workflow(api, payloadSchema=schema, validatePayload=validates)

    assert (await trigger(api)).status_code == (400 if validates else 201)


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"to": [7]}, "to.0"),
        ({"to": ["ada", "x y" * 200]}, "to.1"),
        ({"to": ["ada", {"email": "ada@example.com"}]}, "to.1.subscriberId"),
        ({"actor": 7}, "actor"),
        ({"actor": {"email": "ada@example.com"}}, "actor.subscriberId"),
        ({"actor": {"subscriberId": "bo", "email": 7}}, "actor.email"),
    ],
)
async def test_recipients_and_actors_that_are_none_are_named(api: Api, fields: dict[str, Any], path: str) -> None:
    await make_workflow(api)

    response = await trigger(api, **fields)

    assert (response.status_code, list(response.json()["errors"])) == (422, [path])


async def test_a_broadcast_of_an_unknown_workflow_is_refused(api: Api) -> None:
    response = await api.post("/v1/events/trigger/broadcast", json={"name": "nothing"})

    assert (response.status_code, response.json()["message"]) == (422, "workflow_not_found")
