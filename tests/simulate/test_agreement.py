"""A simulation agrees with what the engine then does: decision by decision, and message by message."""

import itertools
import json
import os
import re
from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, note, settings

from clarion.clock import DAY, Millis, iso_text
from clarion.db.port import Connection, Database
from clarion.db.query import sql
from clarion.ids import find_id
from tests.engine.support import World
from tests.providers.loopback import WebServer, answering, web_server
from tests.simulate.circumstances import UNTIL, Circumstances, circumstances

EXAMPLES = int(os.environ.get("CLARION_SIMULATE_EXAMPLES", "15"))
NEXT_DUE = sql("""
    SELECT MIN(due_at) AS due_at FROM jobs WHERE environment_id = :environment_id AND queue IS NOT NULL
""")
SET_HEALTH = sql("""
    INSERT INTO integration_health (environment_id, integration_id, failures, open_until, allowance, refilled_at)
    VALUES (:environment_id, :id, :failures, :open_until, :allowance, :refilled_at)
    ON CONFLICT (environment_id, integration_id) DO UPDATE SET failures = excluded.failures,
        open_until = excluded.open_until, allowance = excluded.allowance, refilled_at = excluded.refilled_at
""")
RUN = sql("SELECT id, digested_into FROM notifications WHERE environment_id = :environment_id AND id = :id")
MESSAGES = sql("""
    SELECT channel, content, subject, title, provider_id, email, phone, created_at, delivered_at FROM messages
    WHERE environment_id = :environment_id AND notification_id = :id AND status = 'sent' AND created_at >= :since
    ORDER BY created_at, id
""")
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|txn_[0-9a-f]+")
_numbers = itertools.count(1)


@pytest.fixture
async def receiver() -> AsyncIterator[WebServer]:
    async with web_server(answering(200, "{}")) as server:
        yield server


class Stage:
    """An environment in which circumstances come about."""

    def __init__(self, world: World, database: Database, receiver: WebServer) -> None:
        self.world, self.api, self.database = world, world.api, database
        self._url = receiver.url("/hook")
        self._mail: dict[str, Any] = {}

    async def set_up_integrations(self) -> None:
        first = {"providerId": "email-webhook", "identifier": "first", "channel": "email"}
        credentials = {"webhookUrl": self._url, "from": "us@example.com", "secretKey": "s"}
        self._mail = await self._create({**first, "credentials": credentials})
        await self._create({"providerId": "svc-email", "identifier": "second", "channel": "email"})
        await self._create({"providerId": "svc-sms", "identifier": "texts", "channel": "sms"})
        chat = {"providerId": "chat-webhook", "identifier": "chat", "channel": "chat"}
        await self._create({**chat, "credentials": {"webhookUrl": self._url}})
        push = {"providerId": "push-webhook", "identifier": "push", "channel": "push"}
        await self._create({**push, "credentials": {"webhookUrl": self._url, "secretKey": "s"}})

    async def _create(self, body: dict[str, Any]) -> dict[str, Any]:
        response = await self.api.post("/v1/integrations", json={"active": True, **body})
        assert response.status_code == 201, response.text
        made: dict[str, Any] = response.json()
        return made

    async def arrange(self, given_: Circumstances, key: str) -> None:
        """Create the workflow and the person, and let the history happen."""
        layer = {channel: {"enabled": enabled} for channel, enabled in given_.defaults.items()}
        preferences = {"user": {"all": {"enabled": True, "readOnly": given_.is_critical}, "channels": layer}}
        await self.world.make_workflow(*given_.steps, key=key, preferences=preferences)
        await self._make_person(given_, key)
        for payload, gap in given_.history:
            await self.world.trigger(key, name=key, payload=payload)
            await self.world.work()
            await self.pass_time(Millis(self.world.clock.now() + gap))
        await self._set_mail(given_.first_mail)

    async def _make_person(self, given_: Circumstances, key: str) -> None:
        person = {name: value for name, value in given_.person.items() if value is not None}
        person |= {"email": person["email"].format(key=key)} if "email" in person else {}
        assert (await self.api.post("/v2/subscribers", json={"subscriberId": key, **person})).status_code == 201
        path = f"/v2/subscribers/{key}/preferences"
        if given_.wants:
            assert (await self.api.patch(path, json={"channels": given_.wants})).status_code == 200
        if given_.wants_of_workflow and not given_.is_critical:
            body = {"channels": given_.wants_of_workflow, "workflowId": key}
            assert (await self.api.patch(path, json=body)).status_code == 200
        if given_.schedule is not None:
            hours = [{"start": given_.schedule[0], "end": given_.schedule[1]}]
            days = ("monday", "tuesday", "wednesday", "friday", "saturday")
            week = {day: {"isEnabled": True, "hours": hours} for day in days}
            body = {"schedule": {"isEnabled": True, "weeklySchedule": week}}
            assert (await self.api.patch(path, json=body)).status_code == 200
        if given_.has_tokens:
            body = {"providerId": "push-webhook", "credentials": {"deviceTokens": ["token-1", "token-2"]}}
            path = f"/v1/subscribers/{key}/credentials"
            assert (await self.api.patch(path, json=body)).status_code == 200
        if given_.suppressed and "email" in person:
            body = {"channel": "email", "address": person["email"]}
            assert (await self.api.post("/v1/suppressions", json=body)).status_code in (200, 201)

    async def _set_mail(self, state: str) -> None:
        now = self.world.clock.now()
        fields = {"active": state != "off", "rateLimit": 1 if state == "slow" else None}
        response = await self.api.put(f"/v1/integrations/{self._mail['_id']}", json=fields)
        assert response.status_code == 200, response.text
        if state != "off":
            response = await self.api.post(f"/v1/integrations/{self._mail['_id']}/set-primary")
            assert response.status_code == 200, response.text
        is_resting, is_slow = state == "resting", state == "slow"
        await self.database.transaction(
            lambda db: db.execute(
                SET_HEALTH,
                environment_id=self.api.environment.id,
                id=find_id(self._mail["_id"]),
                failures=5 if is_resting else 0,
                open_until=now + DAY if is_resting else None,
                allowance=-5.0 if is_slow else 0.0,
                refilled_at=now if is_slow else 0,
            )
        )

    async def pass_time(self, until: Millis) -> None:
        """Do everything at the moment when it is due."""
        clock, scope = self.world.clock, {"environment_id": self.api.environment.id}
        while True:
            row = await self.database.read(lambda db: db.fetch_one(NEXT_DUE, **scope))
            due = None if row is None else row["due_at"]
            if due is None or due > until:
                break
            clock.move(max(due - clock.now(), 0))
            await self.world.work()
        clock.move(until - clock.now())

    async def emit(self, key: str, data: dict[str, Any]) -> None:
        response = await self.api.post("/v1/events/emit", json={"name": "order.paid", "to": key, "data": data})
        assert response.status_code == 201, response.text
        await self.world.work()

    async def list_messages(self, notification_id: str, since: Millis) -> list[dict[str, Any]]:
        """The messages of a run, and of those that its digests were merged into."""
        here = self.api.environment.id

        async def read(db: Connection) -> list[dict[str, Any]]:
            following, found = find_id(notification_id), []
            while following is not None:
                run = await db.fetch_one(RUN, environment_id=here, id=following)
                assert run is not None
                found += [dict(row) for row in await db.fetch(MESSAGES, environment_id=here, id=following, since=since)]
                following = run["digested_into"]
            return found

        return await self.database.read(read)


# A smaller seed is not a simpler example, so that shrinking it would be in vain.
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.generate],
)
@given(given_=circumstances)
async def test_a_simulation_shows_what_then_happens(
    world: World, database: Database, receiver: WebServer, given_: Circumstances
) -> None:
    stage, key = Stage(world, database, receiver), f"w{next(_numbers)}"
    if not (await world.api.get("/v1/integrations/active")).json()[1:]:
        await stage.set_up_integrations()
    else:
        found = (await world.api.get("/v1/integrations")).json()
        stage._mail = next(one for one in found if one["identifier"] == "first")
    await stage.arrange(given_, key)
    at = Millis(world.clock.now() + given_.later)
    until = Millis(at + UNTIL)
    body: dict[str, Any] = {"name": key, "to": key, "payload": given_.payload, "overrides": given_.overrides}
    body["actor"] = {"subscriberId": "bob", "firstName": "Bob"}

    events = [(Millis(at + after), data) for after, data in sorted(given_.events, key=lambda one: one[0])]
    asked = {"at": iso_text(at), "until": iso_text(until), "events": [_happens(*one) for one in events]}

    response = await world.api.post("/v1/simulate", json={**body, **asked})

    assert response.status_code == 200, response.text
    simulated = response.json()
    await stage.pass_time(at)
    answer = await world.trigger(key, **{name: value for name, value in body.items() if name != "to"})
    await world.work()
    for moment, data in events:
        await stage.pass_time(moment)
        await stage.emit(key, data)
    await stage.pass_time(until)
    (run,) = await world.events(transactionId=answer["transactionId"])
    real = (await world.api.get(f"/v1/notifications/{run['_id']}/explain")).json()
    (shown,) = simulated["recipients"]
    note(json.dumps(shown, indent=1))
    assert _comparable(shown["decisions"]) == _comparable(real["decisions"])
    messages = await stage.list_messages(run["_id"], at)
    assert [_told(one) for one in shown["messages"]] == [_stored(one) for one in messages]
    assert simulated["status"] == answer["status"]


def _happens(moment: Millis, data: dict[str, Any]) -> dict[str, Any]:
    return {"name": "order.paid", "at": iso_text(moment), "data": data}


def _comparable(decisions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Decisions without what differs each time: ids, and the answers of providers with their latencies."""
    text = _UUID.sub("*", json.dumps(decisions))
    found: list[dict[str, Any]] = json.loads(text)
    for one in found:
        for name in ("id", "answer", "milliseconds"):
            one["values"].pop(name, None)
    return found


def _told(message: dict[str, Any]) -> tuple[Any, ...]:
    subject = message.get("subject") or None
    return message["at"], message["channel"], message.get("providerId"), subject, message["content"]


def _stored(row: dict[str, Any]) -> tuple[Any, ...]:
    at = json.loads(row["delivered_at"])[0] if row["delivered_at"] else row["created_at"]
    return iso_text(at), row["channel"], row["provider_id"], row["subject"] or row["title"] or None, row["content"]
