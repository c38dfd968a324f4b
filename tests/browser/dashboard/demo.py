"""An environment with the company of `clarion demo`, and the addresses of all pages in it."""

import asyncio
import sys

from tests.browser.dashboard.desk import Desk, Team, make_desk
from tests.browser.dashboard.test_connections import CONNECTION, ENDPOINT, SLACK
from tests.processes import clean_environ

WITHOUT_ID = (
    "/",
    "/activity",
    "/workflows",
    "/layouts",
    "/translations",
    "/schedules",
    "/outbox",
    "/subscribers",
    "/subscribers/import",
    "/topics",
    "/segments",
    "/contexts",
    "/suppressions",
    "/integrations",
    "/integrations/new",
    "/dead-letters",
    "/webhooks",
    "/usage",
    "/api-keys",
    "/environments",
    "/variables",
    "/promotion",
    "/team",
    "/audit-log",
    "/account",
)
PARTS_OF_A_SUBSCRIBER = ("", "/channels", "/preferences", "/schedule", "/inbox", "/topics", "/runs", "/why", "/data")


async def make_demo_desk(team: Team, **fields: str) -> Desk:
    """A new environment with a week of runs, as the command makes it beside the running service."""
    desk = await make_desk(team, **fields)
    command = ["demo", "--environment", desk.environment["name"], *team.service.options]
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "clarion", *command), env=clean_environ({}), stdout=asyncio.subprocess.PIPE
    )
    output, _ = await process.communicate()
    assert process.returncode == 0, output.decode()
    return desk


async def add_what_the_demo_lacks(desk: Desk) -> None:
    """A context, a workspace of a person, and a variable, so that their pages show something."""
    await desk.call("POST", "/v2/contexts", {"type": "tenant", "id": "acme", "data": {"name": "Acme"}})
    schedule = {"identifier": "daily", "name": "Every morning", "workflowId": "welcome", "to": "ada"}
    await desk.call("POST", "/v1/schedules", {**schedule, "cron": "0 9 * * *", "timezone": "subscriber"})
    reachable = {"notNull": [{"var": "subscriber.email"}]}
    await desk.call("POST", "/v1/segments", {"key": "reachable", "name": "With an address", "condition": reachable})
    await desk.call("POST", "/v1/integrations", SLACK)
    await desk.call("POST", "/v1/channel-connections", CONNECTION)
    await desk.call("POST", "/v1/channel-endpoints", ENDPOINT)
    values = [{"_environmentId": desk.environment["_id"], "value": "help@example.com"}]
    await desk.call("POST", "/v1/environment-variables", {"key": "SUPPORT_ADDRESS", "values": values})


async def list_addresses(desk: Desk) -> list[str]:
    """Every page of the demo, with one thing of each kind."""
    failed = await desk.call("GET", "/v1/runs?status=failed&status=partly_failed")
    waiting = await desk.call("GET", "/v1/runs?status=waiting")
    integrations = await desk.call("GET", "/v1/integrations")
    endpoints = await desk.call("GET", "/v1/webhooks/endpoints")
    topics = await desk.call("GET", "/v2/topics")
    return [
        *WITHOUT_ID,
        f"/activity/{failed['data'][0]['_id']}",
        f"/activity/{waiting['data'][0]['_id']}",
        "/workflows/order-shipped",
        "/workflows/order-shipped/versions",
        "/workflows/welcome?step=mail",
        "/layouts/larkspur",
        "/translations/workflow/welcome",
        "/translations/layout/larkspur",
        "/schedules/daily",
        *(f"/subscribers/ada{part}" for part in PARTS_OF_A_SUBSCRIBER),
        f"/topics/{topics['data'][0]['key']}",
        "/segments/reachable",
        f"/integrations/{integrations[-1]['_id']}",
        f"/integrations/{next(one['_id'] for one in integrations if one['channel'] == 'email')}?part=replies",
        f"/webhooks/{endpoints[0]['_id']}",
    ]
