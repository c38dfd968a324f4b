"""The variables of a real run are those that the schema of a step describes."""

from typing import Any

import jsonschema_rs

from clarion.clock import HOUR
from clarion.content.environment import find_environment_content
from clarion.db.port import Database
from clarion.engine.load import add_past, load_runs
from clarion.engine.records import variables_of
from clarion.ids import NotificationId, find_id
from clarion.jsontext import plain_value
from clarion.vault import Vault
from tests.engine.support import World
from tests.workflows.support import PAYLOAD_SCHEMA, STEPS_WITH_OUTPUTS, find_step

ON_DEMAND = {"t", "unsubscribe_url", "preferences_url"}
"""These are made when a text names them."""


def list_paths(schema: dict[str, Any], prefix: str = "") -> set[str]:
    """The paths of all members that a schema names."""
    found = set()
    for name, one in schema.get("properties", {}).items():
        found |= {f"{prefix}{name}"} | list_paths(one, f"{prefix}{name}.")
    return found


def list_members(value: Any, prefix: str = "") -> set[str]:
    found = set()
    for name, one in value.items() if isinstance(value, dict) else ():
        found |= {f"{prefix}{name}"} | list_members(one, f"{prefix}{name}.")
    return found


async def test_the_schema_of_a_step_is_that_of_the_variables_which_a_real_run_has(
    world: World, database: Database, vault: Vault
) -> None:
    made = await world.make_workflow(*STEPS_WITH_OUTPUTS, payloadSchema=PAYLOAD_SCHEMA)
    await world.api.post("/v2/subscribers", json={"subscriberId": "bob", "firstName": "Bob"})
    person = {"subscriberId": "ada", "firstName": "Ada", "data": {"plan": "pro"}}
    context = {"tenant": {"id": "acme", "data": {"plan": "pro"}}}
    await world.trigger(person, payload={"order": 7}, actor="bob", context=context)
    await world.work()
    for _ in ("the digest ends", "the delay ends"):
        await world.work(after=HOUR)
    (event,) = await world.events()

    async def read(db: Any) -> dict[str, Any]:
        environment_id = world.api.environment.id
        runs = await load_runs(db, environment_id, [NotificationId(find_id(event["_id"]) or b"")])
        await add_past(db, environment_id, runs)
        runs[0].content = await find_environment_content(db, environment_id, vault=vault)
        return variables_of(runs[0])

    variables: dict[str, Any] = plain_value(await database.read(read))

    schema = find_step(made, "later")["variables"]
    jsonschema_rs.meta.validate(schema)
    assert [str(one) for one in jsonschema_rs.validator_for(schema).iter_errors(variables)] == []
    # What these have is up to the application.
    free = ("subscriber.data.", "context.", "payload.")
    members, described = (
        {one for one in paths if not one.startswith(free)} for paths in (list_members(variables), list_paths(schema))
    )
    assert members == described - ON_DEMAND
    assert list(schema["properties"]["steps"]["properties"]) == ["digest", "throttle", "own", "inbox", "wait", "last"]
    assert variables["steps"]["digest"]["events"][0]["payload"] == {"order": 7}
    assert variables["step"]["events"] == [{"order": 7}]
