"""A trace from the trigger's request to the provider's receipt, over real processes."""

import asyncio
import re
import secrets

import httpx

from tests.monitoring.traces.collector import ReceivedSpan
from tests.monitoring.traces.conftest import Traced
from tests.providers.loopback import WebServer

CALLER = "00f067aa0ba902b7"
# What the trigger leads to; each of its four messages and the receipt is an event for a webhook.
SPANS = [
    *("POST /v1/events/trigger", "run traced", "send email", "resume traced", "send sms", "resume traced"),
    *("receipt delivered", "webhook message.delivered", *["webhook message.sent"] * 4),
]


def make_context(*, flags: str = "01") -> tuple[str, dict[str, str]]:
    """A new trace id, and the headers of a caller that belongs to it."""
    trace_id = secrets.token_hex(16)
    return trace_id, {"traceparent": f"00-{trace_id}-{CALLER}-{flags}", "tracestate": "vendor=value"}


async def report_delivery(client: httpx.AsyncClient, transaction: str) -> None:
    """Report the text message of a transaction as its provider does, as soon as it is sent."""
    (integration,) = [one for one in (await client.get("/v1/integrations")).json() if one["channel"] == "sms"]
    address = (await client.get(f"/v1/integrations/{integration['_id']}/receipts-address")).json()["url"]
    sent = await wait_for_text(client, transaction)
    report = {"results": [{"messageId": sent["_id"], "to": "442079460000", "status": {"groupId": 3}}]}
    for _ in range(2):
        # The repeat changes nothing and has no span.
        assert (await client.post(address, json=report)).status_code == 200


async def wait_for_text(client: httpx.AsyncClient, transaction: str) -> dict[str, str]:
    for _ in range(600):
        listed = (await client.get("/v1/messages", params={"transactionId": transaction, "channel": "sms"})).json()
        if listed["data"] and listed["data"][0]["status"] == "sent":
            found: dict[str, str] = listed["data"][0]
            return found
        await asyncio.sleep(0.1)
    raise AssertionError("the text message was not sent")


async def wait_for_spans(traced: Traced, trace_id: str, count: int) -> list[ReceivedSpan]:
    def is_complete(spans: list[ReceivedSpan]) -> bool:
        return sum(one.trace_id == trace_id for one in spans) >= count

    return [one for one in await traced.collector.wait_for(is_complete) if one.trace_id == trace_id]


def find_parents(server: WebServer, trace_id: str) -> set[str]:
    pattern = rf"(?im)^traceparent: 00-{trace_id}-(\w{{16}})-01\r$"
    return {found for one in server.requests for found in re.findall(pattern, one.decode())}


async def test_one_trace_goes_from_the_request_to_the_receipt(traced: Traced) -> None:
    trace_id, headers = make_context()
    async with traced.client() as client:
        trigger = {"name": "traced", "to": "ada", "transactionId": "traced-1"}
        accepted = await client.post("/v1/events/trigger", json=trigger, headers=headers)
        await report_delivery(client, "traced-1")
    spans = await wait_for_spans(traced, trace_id, len(SPANS))

    assert accepted.status_code == 201
    assert sorted(one.name for one in spans) == sorted(SPANS)
    assert {one.state for one in spans} == {"vendor=value"}
    by_name = {one.name: one for one in spans}
    request, run = by_name["POST /v1/events/trigger"], by_name["run traced"]
    assert (request.parent_id, run.parent_id) == (CALLER, request.id)
    assert {one.parent_id for one in spans if one not in (request, run)} == {run.id}
    assert all(request.started_at <= one.started_at <= one.ended_at for one in spans)
    assert request.attributes["http.route"] == "/v1/events/trigger"
    assert request.attributes["http.response.status_code"] == 201
    assert run.events["step in_app"]["clarion.status"] == "completed"
    assert run.events["step email"]["clarion.status"] == "queued"
    described = {name: by_name["send sms"].attributes[f"clarion.{name}"] for name in ("provider", "channel", "status")}
    assert described == {"provider": "infobip-sms", "channel": "sms", "status": "sent"}
    assert {one.attributes["clarion.transaction_id"] for one in spans if one is not request} == {"traced-1"}
    assert {one.attributes["service.name"] for one in spans} == {"clarion"}
    assert f'"trace_id":"{trace_id}"' in traced.read_logs()
    # The user's own receivers get the context, and vendors do not.
    assert find_parents(traced.mail, trace_id) == {by_name["send email"].id}
    assert find_parents(traced.events, trace_id) == {one.id for one in spans if one.name.startswith("webhook ")}
    assert find_parents(traced.text, trace_id) == set()


async def test_only_known_callers_and_sampled_contexts_are_traced(traced: Traced) -> None:
    unsampled, headers_of_unsampled = make_context(flags="00")
    strange, headers_of_stranger = make_context()
    sampled, headers_of_sampled = make_context()
    async with traced.client() as client:
        for number, headers in enumerate([headers_of_unsampled, {"traceparent": "malformed"}, {}]):
            body = {"name": "traced", "to": "ada", "transactionId": f"untraced-{number}"}
            assert (await client.post("/v1/events/trigger", json=body, headers=headers)).status_code == 201
            await wait_for_text(client, f"untraced-{number}")
        refused = await client.post(
            "/v1/events/trigger",
            json={"name": "traced", "to": "ada"},
            headers={**headers_of_stranger, "Authorization": "ApiKey unknown"},
        )
        await client.get("/v1/environments/me", headers=headers_of_sampled)
    (span,) = await wait_for_spans(traced, sampled, 1)

    assert refused.status_code == 401
    assert span.name == "GET /v1/environments/me"
    traces = {one.trace_id for one in traced.collector.list_spans()}
    assert not traces & {unsampled, strange}
    of_untraced = [one for one in traced.collector.list_spans() if "untraced" in str(one.attributes)]
    assert of_untraced == []
