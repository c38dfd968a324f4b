"""Asking for explanations in tests."""

from typing import Any

import msgspec

from clarion.db.port import Connection, Database
from clarion.ids import IntegrationId, SubscriberKey, TopicKey, find_id
from clarion.providers.definition.receipts import Receipt, ReceiptKind
from clarion.receipts.actions import record_reports
from clarion.receipts.model import read_report
from clarion.receipts.store import find_integration
from clarion.topics.model import NewSubscription, Rule
from clarion.topics.store import upsert_topic
from clarion.topics.subscriptions import insert_subscriptions, lock_subscribers
from clarion.vault import Vault
from tests.engine.support import World


async def subscribe(world: World, database: Database, person: str, topic: str, *rules: dict[str, Any]) -> None:
    """Subscribe a person to a topic with rules, as they do in their inbox."""

    async def insert(db: Connection) -> None:
        environment_id, now = world.api.environment.id, world.clock.now()
        found, _ = await upsert_topic(db, environment_id, TopicKey(topic), {}, now)
        people = await lock_subscribers(db, environment_id, [SubscriberKey(person)])
        subscriber_id = people[SubscriberKey(person)]
        new = NewSubscription(
            subscriber_id=subscriber_id, chosen_identifier="", rules=msgspec.convert(list(rules), list[Rule])
        )
        await insert_subscriptions(db, found, [new], now)

    await database.transaction(insert)


async def report(
    database: Database, vault: Vault, world: World, integration: dict[str, Any], kind: ReceiptKind, **fields: Any
) -> None:
    """Let the provider of an integration report what became of the newest message."""
    message, own_id = (await world.messages())[-1], find_id(integration["_id"])
    assert own_id is not None
    found = await database.read(
        lambda db: find_integration(db, world.api.environment.id, IntegrationId(own_id), vault=vault)
    )
    assert found is not None
    receipt = Receipt(kind=kind, message_id=message["_id"], **fields)
    await record_reports(
        database, found, [read_report(receipt, found, lambda value: value, world.clock.now())], world.clock.now()
    )


async def explain_newest(world: World, **query: Any) -> dict[str, Any]:
    """The explanation of the newest run."""
    event = (await world.events())[-1]
    return await explain_id(world, event["_id"], **query)


async def explain_id(world: World, notification_id: str, **query: Any) -> dict[str, Any]:
    response = await world.api.get(f"/v1/notifications/{notification_id}/explain", params=query)
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()
    return found


async def explain(world: World, subscriber_id: str = "ada", **query: Any) -> dict[str, Any]:
    response = await world.api.get("/v1/explain", params={"subscriberId": subscriber_id, **query})
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()
    return found


def of_kind(explanation: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [one for one in explanation["decisions"] if one["kind"] == kind]


def only(explanation: dict[str, Any], kind: str, verdict: str = "stopped") -> dict[str, Any]:
    """The one decision of a kind with a verdict."""
    (found,) = [one for one in of_kind(explanation, kind) if one["verdict"] == verdict]
    return dict(found)
