"""The live stream of real processes: across processes, after restarts, and when things end."""

import asyncio
from typing import Any

import httpx

from tests.processes import Process, Start
from tests.runs.events import open_stream

KEY = "ck_stream_of_runs_for_tests_0123456789abcdef"
INBOX = {"name": "Inbox", "type": "in_app", "controlValues": {"body": "Hi"}}
DELAY = {"name": "Wait", "type": "delay", "controlValues": {"type": "regular", "amount": 1, "unit": "days"}}


async def make_workflow(client: httpx.AsyncClient, *steps: dict[str, Any], key: str = "welcome") -> None:
    body = {"name": key, "workflowId": key, "active": True, "steps": list(steps or [INBOX])}
    response = await client.post("/v2/workflows", json=body)
    assert response.status_code == 201, response.text


async def trigger(client: httpx.AsyncClient, transaction: str, *, to: Any = "ada", name: str = "welcome") -> None:
    body = {"name": name, "to": to, "transactionId": transaction}
    response = await client.post("/v1/events/trigger", json=body)
    assert response.status_code == 201, response.text


def serve(start: Start, store: list[str]) -> Process:
    return start("serve", *store, CLARION_DEVELOPMENT_API_KEY=KEY)


def states(found: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(run["transactionId"], run["status"]) for run in found]


async def test_runs_are_streamed_until_the_process_stops_and_from_there_when_it_is_back(
    start: Start, store: list[str]
) -> None:
    serving = serve(start, store)
    async with serving.client(KEY) as client:
        await make_workflow(client)
        await make_workflow(client, DELAY, key="later")
        async with open_stream(client) as stream, open_stream(client, transactionId="t-2") as one:
            assert stream.response.headers["content-type"] == "text/event-stream"
            await trigger(client, "t-1")
            assert states(await stream.runs(1)) == [("t-1", "completed")]

            await trigger(client, "t-2", name="later")
            assert states(await stream.runs(1)) == [("t-2", "waiting")]
            assert states(await one.runs(1)) == [("t-2", "waiting")]

            await client.delete("/v1/events/trigger/t-2")
            assert states(await stream.runs(1)) == [("t-2", "canceled")]
            assert states(await one.runs(1)) == [("t-2", "canceled")]

            stopping = asyncio.create_task(asyncio.to_thread(serving.stop))
            assert (await stream.next()).name == "end"
            assert await stopping == 0
    serving = serve(start, store)
    async with serving.client(KEY) as client:
        await trigger(client, "t-3")
        async with open_stream(client, last_event_id=stream.position) as again:
            found = await again.runs(1)
            while "t-3" not in dict(states(found)):
                found += await again.runs(1)


async def test_runs_of_other_processes_are_streamed(start: Start, migrated_postgres_url: str) -> None:
    options = {"CLARION_DATABASE_URL": migrated_postgres_url, "CLARION_DEVELOPMENT_API_KEY": KEY}
    first, second = start("api", **options), start("api", **options)
    start("worker", **options)
    async with first.client(KEY) as client, second.client(KEY) as other:
        await make_workflow(client)
        async with open_stream(client) as here, open_stream(other) as there:
            await trigger(client, "t-1", to=["ada", "bob"])

            expected = [("t-1", "completed"), ("t-1", "completed")]
            assert states(await here.runs(2)) == expected
            assert states(await there.runs(2)) == expected
