"""Making workflows and subscriptions to topics."""

from typing import Any

import httpx

from tests.inbox.conftest import Person
from tests.support import Api

OWN = "/v1/inbox/topics/news/subscriptions"
DEFAULT = "tk_news:si_ada"
GOLD = {"==": [{"var": "payload.plan"}, "gold"]}


async def make_workflow(api: Api, key: str, **fields: Any) -> str:
    step = {"name": "Inbox", "type": "in_app", "controlValues": {"body": "x"}}
    body = {"name": key.title(), "workflowId": key, "steps": [step], "active": True, **fields}
    response = await api.post("/v2/workflows", json=body)
    assert response.status_code == 201, response.text
    found: str = response.json()["_id"]
    return found


def critical() -> dict[str, Any]:
    return {"preferences": {"workflow": {"all": {"enabled": True, "readOnly": True}}}}


async def subscribe(person: Person, topic: str = "news", **body: Any) -> dict[str, Any]:
    response = await person.post(f"/v1/inbox/topics/{topic}/subscriptions", json=body)
    assert response.status_code == 201, response.text
    made: dict[str, Any] = response.json()["data"]
    return made


def problems(response: httpx.Response) -> list[str]:
    assert response.status_code == 422, response.text
    return sorted(response.json()["errors"])
