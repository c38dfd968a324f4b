"""What tests of the audit log change: segments and schedules, and the workflows of these."""

from typing import Any

from tests.support import Api

STEP = {"name": "Inbox", "type": "in_app", "controlValues": {"body": "Hi"}}
WORKFLOW = {"name": "Welcome", "workflowId": "welcome", "active": True, "steps": [STEP]}
SEGMENT, GOLD = {"key": "new", "name": "New", "condition": True}, "/v1/segments/gold"
SCHEDULE = {"identifier": "daily", "name": "Daily", "workflowId": "welcome", "to": "ada", "cron": "@daily"}
OTHER, DAILY = {**SCHEDULE, "identifier": "other"}, "/v1/schedules/daily"

Ready = tuple[str, dict[str, Any] | None]
"""The path of a request and its body."""


async def beside_segment(path: str, body: Any, api: Api) -> Ready:
    await api.post("/v1/segments", json={"key": "gold", "name": "Gold", "condition": True})
    return path, body


async def beside_schedule(path: str, body: Any, api: Api) -> Ready:
    await api.post("/v2/workflows", json=WORKFLOW)
    await api.post("/v1/schedules", json=SCHEDULE)
    return path, body
