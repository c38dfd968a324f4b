"""People, workflows and topics for the tests of the pages about people."""

import asyncio
from typing import Any

from playwright.async_api import Page

from tests.browser.conftest import list_axe_problems
from tests.browser.dashboard.conftest import overflow_of
from tests.browser.dashboard.desk import Desk

LONG = "Aurelia-Konstantina Wolfeschlegelsteinhausenbergerdorff the Younger of Llanfairpwllgwyngyll"
IN_APP = {"name": "Inbox", "type": "in_app", "controlValues": {"subject": "Hello", "body": "Hello {{payload.what}}"}}
EMAIL = {"name": "Mail", "type": "email", "controlValues": {"subject": "Hello", "body": "Hello"}}


async def make_people(desk: Desk, *people: dict[str, Any]) -> None:
    for start in range(0, len(people), 500):
        await desk.call("POST", "/v1/subscribers/bulk", {"subscribers": people[start : start + 500]})


async def make_workflow(desk: Desk, workflow_id: str, *steps: dict[str, Any], critical: bool = False) -> None:
    body: dict[str, Any] = {"workflowId": workflow_id, "name": workflow_id.title(), "active": True}
    if critical:
        body["preferences"] = {"workflow": {"all": {"enabled": True, "readOnly": True}}}
    await desk.call("POST", "/v2/workflows", {**body, "steps": list(steps or (IN_APP, EMAIL))})


async def trigger(desk: Desk, workflow_id: str, to: Any, what: str = "there") -> str:
    """Trigger a workflow, and wait until its runs are over."""
    body = {"name": workflow_id, "to": to, "payload": {"what": what}}
    transaction: str = (await desk.call("POST", "/v1/events/trigger", body))["transactionId"]
    for _ in range(200):
        runs = (await desk.call("GET", f"/v1/runs?transactionId={transaction}"))["data"]
        if runs and all(run["status"] not in {"running", "waiting"} for run in runs):
            return transaction
        await asyncio.sleep(0.05)
    raise AssertionError(f"{transaction} does not end")


WIDE, NARROW = 1280, 390


async def check_looks(page: Page, *looks: tuple[int, str]) -> None:
    """Check that the shown page is not too wide, and its accessibility: by default wide and light, narrow and dark."""
    for width, scheme in looks or ((WIDE, "light"), (NARROW, "dark")):
        await page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        await check_width(page, width)
        assert await list_axe_problems(page) == []


async def check_width(page: Page, width: int = NARROW) -> None:
    await page.set_viewport_size({"width": width, "height": 800})
    assert await overflow_of(page) == 0


def forget_refusals(page: Page) -> None:
    """Browsers log every refusal of the server as an error, also one that the page shows as it should."""
    page.__dict__["problems"].clear()
