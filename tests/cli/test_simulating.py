"""`clarion simulate`: the timeline of a trigger that is not made."""

import asyncio
import json
from pathlib import Path

import httpx

from clarion.app import open_application
from clarion.errors import Invalid, SettingsError
from tests.cli.support import load_settings, run_here, set_up_store

DEVELOPMENT = ("--environment", "Development")
STEPS = [
    {"name": "Inbox", "type": "in_app", "controlValues": {"body": "Hello {{payload.name}}"}},
    {"name": "Wait", "type": "delay", "controlValues": {"type": "regular", "amount": 1, "unit": "hours"}},
    {"name": "Later", "type": "in_app", "controlValues": {"body": "Still here?"}},
]


def make_workflow(store: list[str], key: str) -> None:
    async def post() -> None:
        async with open_application(load_settings(store)) as application:
            transport = httpx.ASGITransport(app=application.asgi)
            headers = {"Authorization": f"ApiKey {key}"}
            async with httpx.AsyncClient(transport=transport, base_url="http://clarion.test", headers=headers) as api:
                body = {"name": "Welcome", "workflowId": "welcome", "active": True, "steps": STEPS}
                assert (await api.post("/v2/workflows", json=body)).status_code == 201

    asyncio.run(post())


def test_the_timeline_of_a_trigger_is_printed(store: list[str], tmp_path: Path) -> None:
    make_workflow(store, set_up_store(store)["Development"])
    payload = tmp_path / "payload.json"
    payload.write_text('{"name": "Ada"}')
    trigger = ("simulate", "welcome", *DEVELOPMENT, *store, "--to", "ada", "--at", "2026-12-01T10:00:00Z")

    shown = run_here(*trigger, "--payload", f"@{payload}")
    told = run_here(*trigger, "--payload", '{"name": "Bob"}', "--to", "bob", "--json")
    wrong = [
        run_here("simulate", "welcome", *DEVELOPMENT, *store),
        run_here(*trigger, "--payload", "{"),
        run_here(*trigger, "--payload", "@nowhere.json"),
        run_here(*trigger, "--until", "soon"),
    ]

    assert shown.exit_code == 0, shown.output
    lines = shown.stdout.splitlines()
    assert lines[0] == "processed · 2026-12-01T10:00:00.000Z · 1 person, 1 shown"
    messages = [line for line in lines if "  message" in line]
    assert [line[:24] for line in messages] == ["2026-12-01T10:00:00.000Z", "2026-12-01T11:00:00.000Z"]
    assert messages[0].endswith("Hello Ada")
    answer = json.loads(told.stdout)
    assert [one["subscriberId"] for one in answer["recipients"]] == ["ada", "bob"]
    assert [type(one.exception) for one in wrong] == [SettingsError, SettingsError, SettingsError, Invalid]
