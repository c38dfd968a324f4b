"""Workflows, people and runs for tests of pages that show them."""

import asyncio
from typing import Any

from tests.browser.dashboard.desk import Desk

ADA = {"subscriberId": "ada", "firstName": "Ada", "lastName": "Lovelace", "email": "ada@example.com"}


def step(kind: str, name: str, **controls: Any) -> dict[str, Any]:
    return {"type": kind, "name": name, "controlValues": controls}


def mail(body: str = "<p>Hello</p>", **controls: Any) -> dict[str, Any]:
    return step("email", "Mail", **{"subject": "Hello {{subscriber.firstName}}", "body": body} | controls)


def delay(amount: int, unit: str) -> dict[str, Any]:
    return step("delay", "Wait", type="regular", amount=amount, unit=unit)


async def make_workflow(desk: Desk, *steps: dict[str, Any], key: str = "welcome", name: str = "Welcome") -> None:
    await desk.call("POST", "/v2/workflows", {"workflowId": key, "name": name, "active": True, "steps": steps})


async def keep_mails(desk: Desk, *channels: str) -> None:
    """Add the built-in providers, which keep messages instead of sending them."""
    for channel in channels or ("email",):
        body = {"providerId": f"svc-{channel}", "channel": channel, "active": True}
        await desk.call("POST", "/v1/integrations", body)


async def trigger(desk: Desk, to: Any = ADA, *, name: str = "welcome", **fields: Any) -> str:
    """Trigger a workflow, and return the id of its run."""
    answer = await desk.call("POST", "/v1/events/trigger", {"name": name, "to": to, **fields})
    async with asyncio.timeout(30):
        while True:
            found = await desk.call("GET", f"/v1/runs?transactionId={answer['transactionId']}")
            if found["data"]:
                run: str = found["data"][0]["_id"]
                return run
            await asyncio.sleep(0.02)


async def wait_for_end(desk: Desk, run: str) -> dict[str, Any]:
    """Wait until a run has ended, and return it."""
    async with asyncio.timeout(30):
        while True:
            event: dict[str, Any] = await desk.call("GET", f"/v1/notifications/{run}")
            if all(job["status"] not in ("pending", "queued", "running", "delayed") for job in event["jobs"]):
                return event
            await asyncio.sleep(0.02)
