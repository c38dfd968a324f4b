"""What keys see of people in messages and events: details only with the scope that reads subscribers."""

from typing import Any

import pytest

from clarion.db.port import Database
from clarion.vocabulary import Channel, Scope
from tests.records import (
    MadeMessage,
    make_job,
    make_message,
    make_notification,
    make_subscriber,
    make_trigger,
    make_workflow,
)
from tests.support import Api, MakeApi

READS = frozenset({Scope.MESSAGES_READ, Scope.EVENTS_READ})
SECRETS = ("Lovelace", "plan-of-ada", "+4912345", "ada@private.example")


@pytest.fixture
async def message(api: Api, database: Database) -> MadeMessage:
    environment = api.environment
    ada = await make_subscriber(
        database,
        environment,
        key="ada",
        last_name="Lovelace",
        email="ada@private.example",
        phone="+4912345",
        data={"plan": "plan-of-ada"},
    )
    trigger = await make_trigger(database, environment, workflow=await make_workflow(database, environment))
    run = await make_notification(database, environment, trigger=trigger, subscriber=ada)
    job = await make_job(database, environment, notification=run)
    return await make_message(database, environment, job=job, channel=Channel.IN_APP)


def paths(message_id: str) -> list[str]:
    return [
        "/v1/messages",
        f"/v1/messages/{message_id}",
        "/v1/subscribers/ada/notifications/feed",
        "/v2/subscribers/ada/notifications",
        "/v1/notifications",
    ]


async def test_without_the_scope_people_are_shown_by_their_ids(
    make_api: MakeApi, api: Api, message: MadeMessage
) -> None:
    blind = await make_api(scopes=READS)
    (shown,) = (await blind.get("/v1/messages")).json()["data"]

    for path in paths(shown["_id"]):
        answer = await blind.get(path)
        assert answer.status_code == 200, path
        assert "ada" in answer.text
        assert [one for one in SECRETS if one in answer.text] == [], path


async def test_with_the_scope_people_are_shown_whole(make_api: MakeApi, api: Api, message: MadeMessage) -> None:
    seeing = await make_api(scopes=READS | {Scope.SUBSCRIBERS_READ})
    (shown,) = (await seeing.get("/v1/messages")).json()["data"]

    assert shown["subscriber"]["data"] == {"plan": "plan-of-ada"}
    for path in paths(shown["_id"]):
        assert "Lovelace" in (await seeing.get(path)).text, path


async def test_explain_needs_the_scopes_of_what_it_shows(make_api: MakeApi, api: Api, message: MadeMessage) -> None:
    blind = await make_api(scopes=READS)
    (event,) = (await blind.get("/v1/notifications")).json()["data"]
    asked: list[Any] = [f"/v1/notifications/{event['_id']}/explain", "/v1/explain?subscriberId=ada&transactionId=t"]

    for path in asked:
        refused = await blind.get(path)
        assert refused.status_code == 403, path
        assert refused.json()["ctx"]["missingScopes"] == [
            "subscribers:read",
            "topics:read",
            "preferences:read",
            "workflows:read",
        ]
