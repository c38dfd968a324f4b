"""Connections and endpoints through the API."""

from typing import Any

from clarion.db.port import Database, Row
from clarion.db.query import sql
from tests.support import Api

SLACK: dict[str, Any] = {
    "providerId": "slack",
    "channel": "chat",
    "identifier": "slack",
    "active": True,
    "credentials": {"applicationId": "A1", "clientId": "client-1", "secretKey": "slack-secret"},
}
TEAMS: dict[str, Any] = {
    "providerId": "msteams",
    "channel": "chat",
    "identifier": "teams",
    "active": True,
    "credentials": {"clientId": "app-1", "secretKey": "teams-secret", "tenantId": "home-tenant"},
}
WEBEX: dict[str, Any] = {
    "providerId": "webex-messaging",
    "channel": "chat",
    "identifier": "webex",
    "active": True,
    "credentials": {"clientId": "client-1", "secretKey": "webex-secret"},
}
CHAT = {"providerId": "chat-webhook", "channel": "chat", "identifier": "chat", "active": True, "credentials": {}}
AUTH = {"accessToken": "xoxb-a-secret-token"}
WORKSPACE = {"id": "T1", "name": "Acme"}
CONNECTIONS = "/v1/channel-connections"
ENDPOINTS = "/v1/channel-endpoints"


async def make_slack(api: Api, *people: str) -> None:
    """An integration of Slack, and people."""
    await create(api, "/v1/integrations", SLACK)
    for key in people:
        await create(api, "/v2/subscribers", {"subscriberId": key})


async def connect(api: Api, **fields: Any) -> dict[str, Any]:
    return await create(api, CONNECTIONS, connection(**fields))


def connection(**fields: Any) -> dict[str, Any]:
    return {"integrationIdentifier": "slack", "workspace": WORKSPACE, "auth": AUTH, **fields}


async def add_endpoint(api: Api, **fields: Any) -> dict[str, Any]:
    return await create(api, ENDPOINTS, endpoint(**fields))


def endpoint(**fields: Any) -> dict[str, Any]:
    body = {"subscriberId": "ada", "integrationIdentifier": "slack", "type": "slack_channel"}
    return {**body, "endpoint": {"channelId": "C1"}, **fields}


async def create(api: Api, path: str, body: dict[str, Any]) -> dict[str, Any]:
    response = await api.post(path, json=body)
    assert response.status_code in (200, 201), response.text
    made: dict[str, Any] = response.json()
    return made


async def identifiers(api: Api, path: str, **filters: Any) -> list[str]:
    response = await api.get(path, params=filters)
    assert response.status_code == 200, response.text
    return [one["identifier"] for one in response.json()["data"]]


async def rows_of(database: Database, api: Api, table: str) -> list[Row]:
    """What is stored of an environment."""
    query = sql(f"SELECT * FROM {table} WHERE environment_id = :environment_id")
    return list(await database.read(lambda db: db.fetch(query, environment_id=api.environment.id)))
