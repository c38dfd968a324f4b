"""What the response to a trigger warns of, and where it is found later."""

import json
from typing import Any

import httpx
import pytest

from clarion.app import Application
from clarion.clock import ManualClock
from clarion.db.port import Database
from clarion.engine.worker import Engine
from clarion.providers.sending.gateway import ProviderGateway
from clarion.vault import Vault
from clarion.vocabulary import Scope
from tests.engine.support import World, in_app
from tests.support import Api, MakeApi


@pytest.fixture
async def world(
    api: Api, application: Application, database: Database, vault: Vault, gateway: ProviderGateway, clock: ManualClock
) -> World:
    bus = application.services.bus
    made = World(api, Engine(database, clock=clock, vault=vault, bus=bus, gateway=gateway), clock)
    await made.make_workflow(in_app("Hello"))
    return made


def warnings_of(response: httpx.Response) -> list[str]:
    assert response.status_code == 201, response.text
    found: list[str] = json.loads(response.headers.get("clarion-warnings", "[]"))
    return found


UNKNOWN = "is not known here: nothing reads it"


async def test_unknown_members_are_told_in_the_response_the_event_and_explain(world: World) -> None:
    to = {"subscriberId": "ada", "emial": "ada@example.com"}
    response = await world.post(to, transactionId="t-1", transactionID="t-2", actor={"subscriberId": "bob", "x": 1})
    await world.work()

    expected = [
        f"transactionID {UNKNOWN}; did you mean 'transactionId'?",
        f"to.emial {UNKNOWN}; did you mean 'email'?",
        f"actor.x {UNKNOWN}",
    ]
    assert warnings_of(response) == expected
    (event,) = await world.events()
    assert event["warnings"] == expected
    explained = await world.api.get(f"/v1/notifications/{event['_id']}/explain")
    asked = await world.api.get("/v1/explain?subscriberId=ada&transactionId=t-1")
    assert explained.json()["warnings"] == asked.json()["warnings"] == expected


async def test_each_event_of_a_bulk_keeps_its_own_warnings(world: World) -> None:
    events: list[dict[str, Any]] = [
        {"name": "welcome", "to": "ada", "paylod": {}},
        {"name": "welcome", "to": [{"type": "Topic", "topicKey": "news", "excludes": []}, "bob"]},
        {"name": "welcome", "to": "cy"},
    ]
    response = await world.api.post("/v1/events/trigger/bulk", json={"events": events, "evnts": []})
    await world.work()

    assert warnings_of(response) == [
        f"events.0.paylod {UNKNOWN}; did you mean 'payload'?",
        f"evnts {UNKNOWN}; did you mean 'events'?",
        f"events.1.to.0.excludes {UNKNOWN}; did you mean 'exclude'?",
    ]
    by_person = {one["subscriber"]["subscriberId"]: one.get("warnings") for one in await world.events()}
    assert by_person == {
        "ada": [f"paylod {UNKNOWN}; did you mean 'payload'?"],
        "bob": [f"to.0.excludes {UNKNOWN}; did you mean 'exclude'?"],
        "cy": None,
    }


async def test_a_transaction_that_was_seen_before_is_told(world: World) -> None:
    first = await world.post(transactionId="order-42")
    second = await world.post(transactionId="order-42")

    assert warnings_of(first) == []
    assert second.json() == first.json()
    assert warnings_of(second) == ["transactionId 'order-42' was seen before: this trigger is not run again"]


async def test_a_transaction_that_comes_twice_in_a_bulk_is_told_of_the_second(world: World) -> None:
    event = {"name": "welcome", "to": "ada", "transactionId": "order-42"}
    response = await world.api.post("/v1/events/trigger/bulk", json={"events": [event, event]})

    assert warnings_of(response) == ["events.1.transactionId 'order-42' was seen before: this trigger is not run again"]


async def test_fields_of_people_that_the_key_may_not_store_are_told(world: World, make_api: MakeApi) -> None:
    sender = await make_api(scopes=frozenset({Scope.EVENTS_WRITE}))
    body = {"name": "welcome", "to": {"subscriberId": "ada", "firstName": "Ada"}, "actor": {"subscriberId": "bob"}}
    told = warnings_of(await sender.post("/v1/events/trigger", json=body))
    nothing_said = warnings_of(await sender.post("/v1/events/trigger", json=body | {"to": {"subscriberId": "ada"}}))
    allowed = warnings_of(await world.api.post("/v1/events/trigger", json=body))

    (warning,) = told
    assert warning.startswith("to has fields of a person, which hold for this trigger alone and are not stored")
    assert warning.endswith("lacks the scope 'subscribers:write'")
    assert nothing_said == allowed == []


async def test_a_simulation_refuses_unknown_members_of_people(world: World) -> None:
    body = {"name": "welcome", "to": [{"subscriberId": "ada", "emial": "ada@example.com"}]}
    response = await world.api.post("/v1/simulate", json=body)

    assert response.status_code == 422
    assert response.json()["errors"]["to.0.emial"]["messages"] == [f"{UNKNOWN}; did you mean 'email'?"]
