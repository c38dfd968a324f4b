"""Makers of integrations, through the API."""

from typing import Any

from tests.support import Api

PATH = "/v1/integrations"
CONDITION: dict[str, Any] = {
    "isNegated": False,
    "type": "GROUP",
    "value": "AND",
    "children": [{"field": "plan", "value": "pro", "operator": "EQUAL", "on": "payload"}],
}
SENDGRID = {"apiKey": "SG.s3cret", "from": "news@example.com"}
TWILIO = {"accountSid": "AC1", "token": "t0ken", "from": "+441632960000"}


async def make_integration(api: Api, **fields: Any) -> dict[str, Any]:
    """Create an integration: by default an active one for email."""
    body: dict[str, Any] = {"providerId": "sendgrid", "channel": "email", "credentials": SENDGRID, "active": True}
    answer = await api.post(PATH, json=body | fields)
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


async def list_integrations(api: Api, channel: str = "email") -> list[dict[str, Any]]:
    answer = await api.get(PATH)
    assert answer.status_code == 200, answer.text
    return [one for one in answer.json() if one["channel"] == channel]


async def list_places(api: Api, channel: str = "email") -> dict[str, tuple[bool, int]]:
    """Primary and priority of every integration of a channel, by identifier."""
    found = await list_integrations(api, channel)
    return {one["identifier"]: (one["primary"], one["priority"]) for one in found}


async def find_in_app(api: Api) -> dict[str, Any]:
    (found,) = await list_integrations(api, "in_app")
    return found
