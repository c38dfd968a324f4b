"""`clarion schedules` beside a running service."""

import json
from typing import Any

from tests.processes import Start

STEP = {"name": "Inbox", "type": "in_app", "controlValues": {"body": "Hello"}}
DEVELOPMENT = ("--environment", "Development")


async def test_schedules_are_listed_paused_and_resumed(start: Start, run_command: Any, store: list[str]) -> None:
    process = start("serve", *store)
    async with process.client(process.keys["Development"]) as client:
        workflow = {"name": "Welcome", "workflowId": "welcome", "active": True, "steps": [STEP]}
        assert (await client.post("/v2/workflows", json=workflow)).status_code == 201
        schedule = {"identifier": "daily", "name": "Daily", "workflowId": "welcome", "to": "ada", "cron": "0 9 * * *"}
        assert (await client.post("/v1/schedules", json=schedule)).status_code == 201

        def read_list() -> dict[str, Any]:
            (line,) = run_command("schedules", "list", *DEVELOPMENT, *store, "--json").stdout.splitlines()
            shown: dict[str, Any] = json.loads(line)
            return shown

        before = read_list()
        paused = run_command("schedules", "pause", "daily", *DEVELOPMENT, *store)
        while_paused = read_list()
        resumed = run_command("schedules", "resume", "daily", *DEVELOPMENT, *store)
        runs = run_command("schedules", "runs", "daily", *DEVELOPMENT, *store, "--json")
        unknown = run_command("schedules", "pause", "other", *DEVELOPMENT, *store)
        entries = (await client.get("/v1/audit-log", params={"action": "schedule.update"})).json()["data"]

    assert before == {
        "identifier": "daily",
        "name": "Daily",
        "workflowId": "welcome",
        "rule": "0 9 * * *",
        "timezone": "UTC",
        "status": "active",
        "nextAt": before["nextAt"],
        "lastMoment": None,
        "trouble": None,
    }
    assert before["nextAt"].endswith("T09:00:00.000Z")
    assert (paused.stdout, resumed.stdout) == ("'daily' is paused.\n", "'daily' goes on.\n")
    assert (while_paused["status"], while_paused["nextAt"]) == ("paused", None)
    assert read_list_status(runs.stdout) == []
    assert unknown.returncode == 1
    assert [entry["actor"]["type"] for entry in entries] == ["commandLine", "commandLine"]


def read_list_status(output: str) -> list[Any]:
    return [json.loads(line) for line in output.splitlines()]
