"""An e-mail provider on the loopback interface, as an integration of the provider Email Webhook reaches it."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from tests.browser.dashboard.desk import Desk
from tests.browser.element import wait_until
from tests.providers.loopback import WebServer, answering, web_server

SECRET = "canary-signing-key-51d0"


@asynccontextmanager
async def mail_vendor(status: int = 200, body: str = '{"id":"vendor-42"}') -> AsyncIterator[WebServer]:
    async with web_server(answering(status, body)) as vendor:
        yield vendor


async def add_integration(desk: Desk, vendor: WebServer, name: str = "Vendor", **fields: Any) -> dict[str, Any]:
    credentials = {"from": "sender@example.com", "webhookUrl": vendor.url(), "secretKey": SECRET}
    body = {"providerId": "email-webhook", "channel": "email", "name": name, "active": True, "credentials": credentials}
    made: dict[str, Any] = await desk.call("POST", "/v1/integrations", {**body, **fields})
    return made


async def add_mail_workflow(desk: Desk, workflow: str = "welcome") -> None:
    step = {"name": "Mail", "type": "email", "controlValues": {"subject": "Hello", "body": "<p>Hi</p>"}}
    await desk.call("POST", "/v2/workflows", {"workflowId": workflow, "name": workflow.title(), "steps": [step]})


async def trigger(desk: Desk, *people: str, workflow: str = "welcome") -> None:
    events = [{"name": workflow, "to": {"subscriberId": one, "email": f"{one}@example.com"}} for one in people]
    await desk.call("POST", "/v1/events/trigger/bulk", {"events": events})


def sent_bodies(vendor: WebServer) -> list[dict[str, Any]]:
    return [json.loads(one.partition(b"\r\n\r\n")[2]) for one in vendor.requests]


async def count_letters(desk: Desk) -> int:
    total: int = (await desk.call("GET", "/v1/dead-letters/counts?groupBy=reason"))["total"]
    return total


async def wait_for_letters(desk: Desk, count: int) -> None:
    """Wait until so many messages were given up."""

    async def are_there() -> bool:
        return await count_letters(desk) == count

    await wait_until(are_there)


async def wait_for_sent(desk: Desk, count: int) -> None:
    """Wait until so many messages were counted as sent."""

    async def are_counted() -> bool:
        usage = (await desk.call("GET", "/v1/usage"))["data"]
        return count == sum(int(one["sent"]) for one in usage)

    await wait_until(are_counted)
