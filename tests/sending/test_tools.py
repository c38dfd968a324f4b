"""Tool steps send to the endpoints of people, on both databases, to a vendor on loopback."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from clarion.clock import ManualClock
from clarion.providers.definition.outgoing import Outgoing
from clarion.providers.definition.result import SendFailure
from clarion.providers.sending.gateway import ProviderGateway
from clarion.providers.transport.egress import EgressGuard
from clarion.vocabulary import Channel
from tests.engine.support import World, details, step
from tests.providers.contract.vendor import Received, Reply, Vendor, play
from tests.subscribers.addresses.support import ENDPOINTS, create
from tests.support import Api

ROUTING_KEY = "r0ut1ngkey0000000000000000000007"
API_KEY = "ca9a5700-0000-4000-8000-00000000c0de"
GRAFANA = "https://acme.grafana.net/integrations/v1/formatted_webhook/the-key/"
HOOK = "https://hooks.example.org/alerts/a-secret-path"
ADDRESSES: dict[str, tuple[str, dict[str, Any]]] = {
    "pagerduty": ("pagerduty_service", {"routingKey": ROUTING_KEY, "region": "eu"}),
    "opsgenie": ("opsgenie_integration", {"apiKey": API_KEY, "region": "us"}),
    "grafana": ("grafana_oncall_integration", {"url": GRAFANA, "authToken": "a-service-account"}),
    "tool-webhook": ("tool_webhook", {"url": HOOK, "method": "PUT", "headers": {"X-Api-Key": "a-header-key"}}),
}
TOOL = step("tool", body="{{payload.service}} is down\nSince noon")


class Tools:
    """The vendors: what they answer."""

    def __init__(self) -> None:
        self.status = 202

    def answer(self, request: Received) -> Reply:
        body: Any = {"requestId": "r-1", "dedup_key": "d-1", "id": "w-1"}
        if "grafana" in request.url:
            body = "Ok."
        return Reply(status=self.status, body=body)


@pytest.fixture
def tools() -> Tools:
    return Tools()


@pytest.fixture
async def vendor(tools: Tools) -> AsyncIterator[Vendor]:
    async with play(tools.answer) as vendor:
        yield vendor


@pytest.fixture
async def gateway(clock: ManualClock, vendor: Vendor) -> AsyncIterator[ProviderGateway]:
    guard = EgressGuard(("127.0.0.0/8",))
    async with ProviderGateway(guard, clock=clock, rewrite_url=vendor.rewrite_url) as entered:
        yield entered


async def integrate(api: Api, *providers: str) -> None:
    """Integrations, and a person with an endpoint at each."""
    await create(api, "/v2/subscribers", {"subscriberId": "ada"})
    for provider in providers:
        account = {"providerId": provider, "channel": "tool", "identifier": provider, "active": True}
        await create(api, "/v1/integrations", account)
        await add_endpoint(api, provider)


async def add_endpoint(api: Api, provider: str, **fields: Any) -> dict[str, Any]:
    kind, address = ADDRESSES[provider]
    body = {"subscriberId": "ada", "integrationIdentifier": provider, "type": kind, "endpoint": address}
    return await create(api, ENDPOINTS, {**body, **fields})


def sent(vendor: Vendor) -> dict[str, dict[str, Any]]:
    return {one.url: json.loads(one.body) for one in vendor.requests}


async def test_a_tool_step_goes_to_each_endpoint_in_the_form_of_its_provider(world: World, vendor: Vendor) -> None:
    await integrate(world.api, *ADDRESSES)
    await world.make_workflow(TOOL)

    await world.trigger(payload={"service": "Billing"})
    await world.work()

    messages = {one["providerId"]: one for one in await world.messages(channel="tool")}
    ids = {provider: one["_id"] for provider, one in messages.items()}
    title, text = "Billing is down", "Billing is down\nSince noon"
    event = {"summary": title, "source": "clarion", "severity": "error", "custom_details": {"text": text}}
    assert sent(vendor) == {
        "https://events.eu.pagerduty.com/v2/enqueue": {
            "routing_key": ROUTING_KEY,
            "event_action": "trigger",
            "dedup_key": ids["pagerduty"],
            "payload": event,
        },
        "https://api.opsgenie.com/v2/alerts": {"message": title, "alias": ids["opsgenie"], "description": text},
        GRAFANA: {"alert_uid": ids["grafana"], "title": title, "state": "alerting", "message": text},
        HOOK: {"content": text},
    }
    keys = {
        one.url: (one.method, one.headers.get("authorization"), one.headers.get("x-api-key")) for one in vendor.requests
    }
    assert keys["https://api.opsgenie.com/v2/alerts"] == ("POST", f"GenieKey {API_KEY}", None)
    assert keys[GRAFANA] == ("POST", "Bearer a-service-account", None)
    assert keys[HOOK] == ("PUT", None, "a-header-key")
    assert {one["channel"] for one in messages.values()} == {"tool"}
    assert await world.statuses() == [["completed"]]


async def test_no_key_of_an_endpoint_is_stored_with_its_message_or_shown(world: World, vendor: Vendor) -> None:
    vendor.answers = lambda request: Reply(status=400, body=request.wire)
    await integrate(world.api, *ADDRESSES)
    await world.make_workflow(TOOL)

    await world.trigger()
    await world.work()

    shown = json.dumps([await world.events(), await world.messages()])
    assert len(vendor.requests) == len(ADDRESSES)
    for secret in (ROUTING_KEY, API_KEY, "a-service-account", "a-header-key", "a-secret-path", "the-key"):
        assert secret not in shown


async def test_what_the_step_says_of_a_provider_is_merged_and_a_trigger_wins(world: World, vendor: Vendor) -> None:
    await integrate(world.api, "opsgenie", "tool-webhook")
    wanted = {"opsgenie": {"priority": "P1", "note": "{{payload.service}}"}, "tool-webhook": {"team": "builds"}}
    await world.make_workflow({**TOOL, "providerOverrides": wanted})

    await world.trigger(payload={"service": "Billing"}, overrides={"providers": {"opsgenie": {"priority": "P3"}}})
    await world.work()

    bodies = sent(vendor)
    assert bodies[HOOK] == {"content": "Billing is down\nSince noon", "team": "builds"}
    alert = bodies["https://api.opsgenie.com/v2/alerts"]
    assert (alert["priority"], alert["note"]) == ("P3", "Billing")


async def test_chat_steps_take_overrides_too(world: World, vendor: Vendor) -> None:
    vendor.answers = lambda _: Reply(body={"id": "m-1"})
    await create(world.api, "/v2/subscribers", {"subscriberId": "ada"})
    account = {"providerId": "chat-webhook", "channel": "chat", "identifier": "chat", "active": True}
    await create(world.api, "/v1/integrations", {**account, "credentials": {"webhookUrl": HOOK}})
    chat = {**step("chat", body="Hello"), "providerOverrides": {"chat-webhook": {"color": "{{payload.color}}"}}}
    await world.make_workflow(chat)

    await world.trigger(payload={"color": "green"})
    await world.work()

    assert sent(vendor)[HOOK] == {"content": "Hello", "webhookUrl": HOOK, "color": "green"}


async def test_a_retried_alert_is_the_same_incident(world: World, vendor: Vendor, tools: Tools) -> None:
    await integrate(world.api, "pagerduty")
    await world.make_workflow(TOOL)
    tools.status = 503

    await world.trigger()
    await world.work()
    tools.status = 202
    await world.work(after=3_600_000)

    first, second = (json.loads(one.body)["dedup_key"] for one in vendor.requests)
    assert first == second
    assert await world.statuses() == [["completed"]]


async def test_someone_without_an_endpoint_gets_nothing_and_the_details_say_so(world: World, vendor: Vendor) -> None:
    await integrate(world.api, "pagerduty")
    await world.make_workflow(TOOL)

    await world.trigger("bob")
    await world.work()

    (event,) = await world.events()
    assert "Subscriber does not have a configured channel" in details(event["jobs"][0])
    explained = await world.api.get(
        "/v1/explain", params={"transactionId": event["transactionId"], "subscriberId": "bob"}
    )
    assert "POST /v1/channel-endpoints" in explained.text
    assert vendor.requests == []


async def test_endpoints_of_chats_and_of_tools_go_to_steps_of_their_own_channel(world: World, vendor: Vendor) -> None:
    await integrate(world.api, "tool-webhook")
    await world.make_workflow(step("chat", body="Hello"))

    await world.trigger()
    await world.work()

    assert vendor.requests == []


async def test_someone_who_switched_tools_off_is_not_alerted_unless_the_workflow_is_critical(
    world: World, vendor: Vendor
) -> None:
    await integrate(world.api, "pagerduty")
    switched = await world.api.patch("/v2/subscribers/ada/preferences", json={"channels": {"tool": False}})
    assert switched.status_code == 200, switched.text
    await world.make_workflow(TOOL)
    critical = {"workflow": {"all": {"enabled": True, "readOnly": True}, "channels": {}}}
    await world.make_workflow(TOOL, key="outage", preferences=critical)

    await world.trigger()
    await world.work()
    assert vendor.requests == []

    await world.trigger(name="outage")
    await world.work()
    assert len(vendor.requests) == 1


async def test_an_endpoint_of_another_context_is_not_used(world: World, vendor: Vendor) -> None:
    await integrate(world.api, "opsgenie")
    await add_endpoint(world.api, "opsgenie", context={"tenant": "acme"})
    await world.make_workflow(TOOL)

    await world.trigger(context={"tenant": "other"})
    await world.work()

    assert vendor.requests == []


@pytest.mark.parametrize("provider", ["grafana", "tool-webhook"])
async def test_addresses_inside_the_own_network_are_refused(clock: ManualClock, provider: str) -> None:
    url = "http://169.254.169.254/latest"
    alert = Outgoing(message_id="m-1", channel=Channel.TOOL, content="Hello", webhook_url=url)

    async with ProviderGateway(EgressGuard(()), clock=clock) as gateway:
        with pytest.raises(SendFailure, match="CLARION_EGRESS_ALLOW"):
            await gateway.send(provider, alert)


async def test_a_test_message_goes_to_the_endpoint_of_a_person(world: World, vendor: Vendor) -> None:
    await integrate(world.api, "opsgenie")
    (integration,) = [
        one for one in (await world.api.get("/v1/integrations")).json() if one["providerId"] == "opsgenie"
    ]
    path = f"/v1/integrations/{integration['_id']}/test"

    tested = await world.api.post(path, json={"subscriberId": "ada", "content": "Hello"})
    without = await world.api.post(path, json={"content": "Hello"})

    assert tested.json()["success"], tested.text
    assert [json.loads(one.body)["message"] for one in vendor.requests] == ["Hello"]
    assert "channel endpoint" in without.json()["errors"]["to"]["messages"][0]
