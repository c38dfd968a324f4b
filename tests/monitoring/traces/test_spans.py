"""The spans of runs that wait, merge, fail and fan out, and of events for crowds."""

import json
from typing import Any

import pytest

from clarion.app import Application, build_application
from clarion.clock import MINUTE, ManualClock
from clarion.db.port import Database
from clarion.engine.worker import Engine
from clarion.monitoring.traces.model import Span
from clarion.monitoring.traces.tracer import Tracer
from clarion.providers.sending.gateway import ProviderGateway
from clarion.settings.model import Settings
from clarion.vault import Vault
from tests.engine.support import World, in_app, step
from tests.providers.loopback import answering, web_server
from tests.support import Api


class Exported(list[Span]):
    """Takes spans in place of a collector."""

    def export(self, span: Span) -> None:
        self.append(span)

    async def close(self) -> None:
        pass

    def named(self, name: str) -> list[Span]:
        return [one for one in self if one.name == name]


@pytest.fixture
def exported() -> Exported:
    return Exported()


@pytest.fixture
def application(
    database: Database,
    settings: Settings,
    vault: Vault,
    gateway: ProviderGateway,
    clock: ManualClock,
    exported: Exported,
) -> Application:
    """Every trigger is traced."""
    return build_application(settings, database, vault, gateway, clock=clock, tracer=Tracer(exported, share=1))


@pytest.fixture
def world(
    api: Api, application: Application, database: Database, vault: Vault, gateway: ProviderGateway, clock: ManualClock
) -> World:
    services = application.services
    engine = Engine(database, clock=clock, vault=vault, bus=services.bus, gateway=gateway, tracer=services.tracer)
    return World(api, engine, clock)


async def test_a_digest_links_to_the_triggers_of_its_events(world: World, exported: Exported) -> None:
    await world.make_workflow(step("digest", type="regular", amount=1, unit="minutes"), in_app("x"))
    for _ in range(3):
        await world.trigger()
        await world.work()

    await world.work(after=MINUTE)

    leader, second, third = exported.named("POST /v1/events/trigger")
    (resumed,) = exported.named("resume welcome")
    assert resumed.context.trace_id == leader.context.trace_id
    assert {one.span_id for one in resumed.links} == {second.context.span_id, third.context.span_id}
    merged = [one.events[0].attributes["clarion.status"] for one in exported.named("run welcome")]
    assert merged == ["delayed", "merged", "merged"]


async def test_each_person_of_a_topic_has_a_run_in_the_trace(world: World, exported: Exported) -> None:
    await world.make_workflow(in_app("x"))
    await world.api.post("/v2/topics/all/subscriptions", json={"subscriberIds": ["a", "b", "c"]})
    for key in ("a", "b", "c"):
        await world.api.post("/v2/subscribers", json={"subscriberId": key})
    await world.api.post("/v2/topics/all/subscriptions", json={"subscriberIds": ["a", "b", "c"]})

    await world.trigger({"type": "Topic", "topicKey": "all"})
    await world.work_by_turns()

    (request,) = exported.named("POST /v1/events/trigger")
    runs = exported.named("run welcome")
    assert [one.parent for one in runs] == [request.context] * 3
    assert len({one.context.span_id for one in runs}) == 3


async def test_a_bulk_request_is_the_parent_of_all_its_runs(world: World, exported: Exported) -> None:
    await world.make_workflow(in_app("x"))
    events = [{"name": "welcome", "to": key} for key in ("a", "b")]

    await world.api.post("/v1/events/trigger/bulk", json={"events": events})
    await world.work()

    (request,) = exported.named("POST /v1/events/trigger/bulk")
    assert [one.parent for one in exported.named("run welcome")] == [request.context] * 2


async def test_a_failed_send_says_its_kind_and_not_what_the_provider_answered(world: World, exported: Exported) -> None:
    async with web_server(answering(422, "No such person as ada@example.com")) as server:
        credentials = {"webhookUrl": server.url("/"), "secretKey": "s", "from": "a@example.com"}
        account = {"providerId": "email-webhook", "channel": "email", "active": True, "credentials": credentials}
        await world.api.post("/v1/integrations", json=account)
        await world.api.post("/v2/subscribers", json={"subscriberId": "ada", "email": "ada@example.com"})
        await world.make_workflow(step("email", subject="Hi", body="x"))

        await world.trigger()
        await world.work()

    (send,) = exported.named("send email")
    assert (send.error, send.attributes["clarion.status"]) == ("permanent", "permanent")
    assert send.attributes["clarion.attempt"] == 1
    assert "ada@example.com" not in repr(exported)


async def test_a_repeated_transaction_keeps_the_trace_of_the_first(world: World, exported: Exported) -> None:
    await world.make_workflow(in_app("x"))

    for _ in range(2):
        await world.trigger(transactionId="once")
    await world.work()

    first, _ = exported.named("POST /v1/events/trigger")
    (run,) = exported.named("run welcome")
    assert run.parent == first.context


async def test_spans_have_no_personal_data(world: World, exported: Exported) -> None:
    await world.make_workflow(in_app("{{payload.text}}"))
    person: dict[str, Any] = {"subscriberId": "canary-person", "email": "canary@example.com", "firstName": "Canary"}

    await world.trigger(person, payload={"text": "canary"})
    await world.work()
    await world.api.get("/v2/subscribers/canary-person", headers={"traceparent": f"00-{'a' * 32}-{'b' * 16}-01"})

    assert {one.name for one in exported} == {
        *("POST /v1/events/trigger", "run welcome", "GET /v2/subscribers/{subscriberId}")
    }
    shown = json.dumps([[one.name, one.attributes, [event.attributes for event in one.events]] for one in exported])
    assert "canary" not in shown.lower()
