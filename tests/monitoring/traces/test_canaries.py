"""Secrets, tokens and contents go through real processes; none is in logs, metrics, traces or answers to others."""

import asyncio
import dataclasses
import hashlib
import hmac
import secrets
from typing import Any

import httpx

from clarion.settings.model import Settings
from tests.monitoring.traces.conftest import APPLICATION, EMAIL, KEY, OTHER_KEY, PHONE, SECRETS, Traced
from tests.monitoring.traces.test_complete_traces import wait_for_text
from tests.providers.loopback import answering

TRANSACTIONS = ("canaries-1", "canaries-2")
# Steps whose controls read the payload; some fail over it.
ODD_STEPS: list[dict[str, Any]] = [
    {"name": "Throttle", "type": "throttle", "controlValues": {"type": "dynamic", "dynamicKey": "payload.text"}},
    {"name": "Delay", "type": "delay", "controlValues": {"type": "dynamic", "dynamicKey": "payload.text"}},
    {
        "name": "Broken",
        "type": "in_app",
        "controlValues": {"body": "{{ payload.text | divided_by: payload.zero }} canary-body-5"},
    },
]


async def echo(request: bytes, writer: asyncio.StreamWriter) -> None:
    """Answer with everything that was sent, headers included, as careless servers do."""
    await answering(500, request.decode())(request, writer)


async def open_session(client: httpx.AsyncClient) -> tuple[str, str]:
    """Begin a session of Ada's inbox with a hash; returns the hash and the token of the session."""
    (inbox,) = [one for one in (await client.get("/v1/integrations")).json() if one["channel"] == "in_app"]
    await client.put(f"/v1/integrations/{inbox['_id']}", json={"credentials": {"hmac": True}})
    signed = hmac.new(KEY.encode(), b"ada", hashlib.sha256).hexdigest()
    body = {"applicationIdentifier": APPLICATION, "subscriberId": "ada", "subscriberHash": signed}
    token: str = (await client.post("/v1/inbox/session", json=body)).json()["data"]["token"]
    headers = {"Authorization": f"Bearer {token}"}
    assert (await client.get("/v1/inbox/notifications", headers=headers)).status_code == 200
    await client.get("/v1/inbox/notifications", headers={"Authorization": f"Bearer {token}x"})
    await client.get(f"/ws?token={token}")
    await client.post("/v1/inbox/session", json=body | {"subscriberHash": signed[::-1]})
    return signed, token


async def send_canaries(client: httpx.AsyncClient, traced: Traced) -> None:
    """Send contents through providers and webhooks that work, and through ones that echo them in their errors."""
    headers = {"traceparent": f"00-{secrets.token_hex(16)}-{secrets.token_hex(8)}-01"}
    payload = {"text": "canary-payload", "n": "canary-number"}
    trigger = {"name": "traced", "to": "ada", "payload": payload, "transactionId": TRANSACTIONS[0]}
    odd = {"name": "Odd", "workflowId": "odd", "active": True, "steps": ODD_STEPS}
    assert (await client.post("/v2/workflows", json=odd)).status_code == 201
    assert (await client.post("/v1/events/trigger", json=trigger, headers=headers)).status_code == 201
    await wait_for_text(client, TRANSACTIONS[0])
    calm = [(one, one.respond) for one in (traced.mail, traced.events)]
    for server, _ in calm:
        server.respond = echo
    counts = [len(server.requests) for server, _ in calm]
    again = trigger | {"transactionId": TRANSACTIONS[1]}
    assert (await client.post("/v1/events/trigger", json=again, headers=headers)).status_code == 201
    await client.post("/v1/events/trigger", json={**trigger, "name": "odd", "transactionId": "odd"}, headers=headers)
    while not all(len(server.requests) > count for (server, _), count in zip(calm, counts, strict=True)):  # noqa: ASYNC110
        await asyncio.sleep(0.05)
    for server, respond in calm:
        server.respond = respond


async def send_malformed(client: httpx.AsyncClient) -> None:
    """Requests that are refused, each with something secret in it."""
    for content in (b'{"name": "traced", "payload": {"text": "canary-payload', b'{"to": ["canary-payload"]}', b"\x00"):
        await client.post("/v1/events/trigger", content=content, headers={"Content-Type": "application/json"})
    await client.get("/v2/subscribers", params={"email": EMAIL, "limit": "canary-payload"})
    for header in (f"Bearer {KEY}", f"ApiKey {KEY}x", KEY):
        await client.get("/v2/subscribers", headers={"Authorization": header})
    bad = {"providerId": "infobip-sms", "channel": "sms", "active": True, "credentials": {"apiKey": SECRETS["text"]}}
    assert (await client.post("/v1/integrations", json=bad)).status_code == 422


async def read_as_stranger(traced: Traced, message_ids: list[str]) -> str:
    """What another environment is answered when it asks for these messages and people, and sends the same keys."""
    async with traced.client(OTHER_KEY) as client:
        headers = {"Idempotency-Key": "canaries"}
        answers = [
            await client.get("/v2/subscribers/ada"),
            await client.get("/v1/messages"),
            await client.get("/v1/notifications", params={"transactionId": TRANSACTIONS[0]}),
            await client.get("/v1/outbox"),
            await client.get("/v1/integrations"),
            await client.get("/v1/webhooks/endpoints"),
            await client.post("/v1/events/trigger", json={"name": "traced", "to": "ada"}, headers=headers),
            *[await client.delete(f"/v1/messages/{one}") for one in message_ids],
        ]
    return "".join(one.text for one in answers)


async def read_metrics(traced: Traced) -> str:
    """The metrics of every process."""
    if "monitor_port" not in {one.name for one in dataclasses.fields(Settings)}:
        return ""
    async with httpx.AsyncClient() as client:
        answers = [await client.get(f"http://127.0.0.1:{port}/metrics") for port in traced.monitor_ports]
    assert [one.status_code for one in answers] == [200] * len(answers)
    return "".join(one.text for one in answers)


async def test_no_secret_token_or_content_is_in_logs_metrics_traces_or_answers_to_others(traced: Traced) -> None:
    async with traced.client() as client:
        signed, token = await open_session(client)
        await send_canaries(client, traced)
        await send_malformed(client)
        listed = (await client.get("/v1/messages", params={"subscriberId": "ada"})).json()["data"]
    stranger = await read_as_stranger(traced, [one["_id"] for one in listed])
    await traced.collector.wait_for(lambda spans: any(one.error == "retryable" for one in spans))

    assert any("canary-body-1 canary-payload" in str(one["content"]) for one in listed)
    shown = {
        "logs": traced.read_logs(),
        "metrics": await read_metrics(traced),
        "traces": b"".join(traced.collector.server.requests).decode("latin-1"),
        "answers": stranger,
    }
    assert '"message":"Request"' in shown["logs"]
    canaries = ["canary", signed, token, traced.endpoint_secret, PHONE, PHONE[1:], EMAIL]
    leaks = {(place, one) for place, text in shown.items() for one in canaries if one in text}
    assert leaks == set()
