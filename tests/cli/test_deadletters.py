"""`clarion dead-letters` beside a running service."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import httpx

from tests.processes import Start

EMAIL = {"name": "Mail", "type": "email", "controlValues": {"subject": "Hi", "body": "Hello"}}
# Loopback addresses are refused permanently unless they are allowed.
FORBIDDEN = {"webhookUrl": "http://127.0.0.1:9/hook", "secretKey": "s", "from": "a@example.com"}


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(30):
        while not await condition():  # noqa: ASYNC110 - polls over HTTP
            await asyncio.sleep(0.05)


async def make_integration(client: httpx.AsyncClient, provider: str, **credentials: str) -> dict[str, Any]:
    body = {"providerId": provider, "channel": "email", "active": True, "credentials": credentials}
    response = await client.post("/v1/integrations", json=body)
    assert response.status_code == 201, response.text
    made: dict[str, Any] = response.json()
    return made


async def test_dead_letters_are_listed_and_redriven(start: Start, run_command: Any, store: list[str]) -> None:
    process = start("serve", *store)
    development = ("--environment", "Development")
    async with process.client(process.keys["Development"]) as client:
        await make_integration(client, "email-webhook", **FORBIDDEN)
        workflow = {"name": "Welcome", "workflowId": "welcome", "active": True, "steps": [EMAIL]}
        assert (await client.post("/v2/workflows", json=workflow)).status_code == 201
        ada = {"subscriberId": "ada", "email": "ada@example.com"}
        await client.post("/v1/events/trigger", json={"name": "welcome", "to": ada})

        async def has_dead_letters() -> bool:
            return bool((await client.get("/v1/dead-letters")).json()["data"])

        await until(has_dead_letters)
        listed = run_command("dead-letters", "list", *development, *store)
        (line,) = [line for line in listed.stdout.splitlines() if "ada" in line]
        dead_id = next(word for word in line.split() if word.count("-") == 4)
        await make_integration(client, "svc-email")

        refused = run_command("dead-letters", "redrive", *development, *store)
        wrong = run_command("dead-letters", "redrive", *development, *store, "nonsense")
        redriven = run_command("dead-letters", "redrive", *development, *store, dead_id)
        again = run_command("dead-letters", "redrive", *development, *store, "--all")

        async def is_sent() -> bool:
            return bool((await client.get("/v1/outbox")).json()["data"])

        await until(is_sent)
        assert (refused.returncode, wrong.returncode) == (2, 2)
        assert "--all" in refused.stderr
        assert redriven.stdout == "Redriven: 1.\n"
        assert again.stdout == "Redriven: 0.\n"
        assert (await client.get("/v1/dead-letters")).json()["data"] == []


async def test_dead_letters_of_a_workflow_or_reason_are_listed_and_discarded(
    start: Start, run_command: Any, store: list[str]
) -> None:
    process = start("serve", *store)
    async with process.client(process.keys["Development"]) as client:
        await make_integration(client, "email-webhook", **FORBIDDEN)
        for name in ("welcome", "invoice"):
            workflow = {"name": name.title(), "workflowId": name, "active": True, "steps": [EMAIL]}
            assert (await client.post("/v2/workflows", json=workflow)).status_code == 201
            ada = {"subscriberId": "ada", "email": "ada@example.com"}
            await client.post("/v1/events/trigger", json={"name": name, "to": ada})

        async def has_both() -> bool:
            return len((await client.get("/v1/dead-letters")).json()["data"]) == 2

        await until(has_both)
        group = (await client.get("/v1/dead-letters/counts?groupBy=reason")).json()["groups"][0]["value"]

        def run(command: str, *options: str) -> Any:
            return run_command("dead-letters", command, "--environment", "Development", *options, *store)

        listed = run("list", "--workflow", "invoice", "--reason", group)
        none = run("list", "--reason", "Something else")
        unnamed = run("discard", "--yes")
        unconfirmed = run("discard", "--workflow", "invoice")
        discarded = run("discard", "--workflow", "invoice", "--yes")
        rest = (await client.get("/v1/dead-letters")).json()["data"]
        others = run("discard", "--reason", group, "--yes")
        again = run("discard", "--all")

        assert ("invoice" in listed.stdout, "welcome" in listed.stdout) == (True, False)
        assert "ada" not in none.stdout
        assert (unnamed.returncode, "--workflow or --reason" in unnamed.stderr) == (2, True)
        assert (unconfirmed.returncode, "cannot be redriven any more: 1." in unconfirmed.stdout) == (1, True)
        assert discarded.stdout == "Discarded: 1.\n"
        assert [one["workflowId"] for one in rest] == ["welcome"]
        assert others.stdout == "Discarded: 1.\n"
        assert again.stdout == "Discarded: 0.\n"
