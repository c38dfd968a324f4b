"""The published Python client connects chat workspaces and adds addresses in them."""

from collections.abc import AsyncIterator

import pytest
from novu_py import Novu

from tests.e2e.test_published_client import call
from tests.services import Service, running_service

pytestmark = [
    pytest.mark.newer_client,
    # The client marks some of its own calls as deprecated.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


@pytest.fixture(scope="module")
async def service(
    backend: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Service]:
    async with running_service(backend, request, tmp_path_factory, CLARION_BUILTIN_NAME="novu") as running:
        yield running


@pytest.fixture
async def client(service: Service) -> Novu:
    tenant = await service.make_tenant()
    return Novu(secret_key=tenant.key, server_url=service.process.address, retry_config=None)


ACCOUNTS = {
    "msteams": {"client_id": "app-1", "secret_key": "secret", "tenant_id": "home"},
    "webex-messaging": {"client_id": "client-1", "secret_key": "secret"},
}
ADDRESSES = (
    ("msteams", "ms_teams_channel", {"team_id": "team-1", "channel_id": "19:abc@thread.tacv2"}),
    ("msteams", "ms_teams_user", {"user_id": "6c31fd2c-0a8b-4c0e-9a52-3d2c1b8f7a10"}),
    ("webex-messaging", "webex_room", {"room_id": "room-1"}),
    ("webex-messaging", "webex_person", {"person_email": "ada@example.com"}),
)


async def test_teams_and_webex(client: Novu) -> None:
    await call(client.subscribers.create, create_subscriber_request_dto={"subscriber_id": "ada"})
    for provider_id, credentials in ACCOUNTS.items():
        account = {"provider_id": provider_id, "channel": "chat", "identifier": provider_id, "active": True}
        await call(
            client.integrations.create,
            create_integration_request_dto={**account, "check": False, "credentials": credentials},
        )
        connection = {"workspace": {"id": "w-1"}, "auth": {"access_token": "token"}, "subscriber_id": "ada"}
        await call(
            client.channel_connections.create,
            create_channel_connection_request_dto={
                **connection, "integration_identifier": provider_id, "identifier": f"at-{provider_id}",
            },
        )  # fmt: skip
    for provider_id, kind, endpoint in ADDRESSES:
        place = {"integration_identifier": provider_id, "connection_identifier": f"at-{provider_id}"}
        made = await call(
            client.channel_endpoints.create,
            request_body={"type": kind, "subscriber_id": "ada", "endpoint": endpoint, **place},
        )
        assert (made.type, made.provider_id) == (kind, provider_id)
    wish = {"subscriber_id": "ada", "integration_identifier": "msteams"}
    connect = await call(client.integrations.generate_connect_o_auth_url, generate_connect_oauth_url_request_dto=wish)
    link = await call(client.integrations.generate_link_user_o_auth_url, generate_link_user_oauth_url_request_dto=wish)
    assert connect.url.startswith("https://login.microsoftonline.com/organizations/v2.0/adminconsent?")
    assert link.url.startswith("https://login.microsoftonline.com/organizations/oauth2/v2.0/authorize?")
    wish["integration_identifier"] = "webex-messaging"
    connect = await call(client.integrations.generate_connect_o_auth_url, generate_connect_oauth_url_request_dto=wish)
    assert connect.url.startswith("https://webexapis.com/v1/authorize?")


async def test_chat_addresses(client: Novu) -> None:
    await call(client.subscribers.create, create_subscriber_request_dto={"subscriber_id": "ada"})
    await call(
        client.integrations.create,
        create_integration_request_dto={
            "provider_id": "slack",
            "channel": "chat",
            "identifier": "slack",
            "active": True,
            "check": False,
            "credentials": {"application_id": "A1", "client_id": "1.2", "secret_key": "secret"},
        },
    )
    workspace, auth = (
        {"id": "T1", "name": "Acme"},
        {"access_token": "xoxb-secret", "expires_at": "2030-01-01T00:00:00Z"},
    )
    connected = await call(
        client.channel_connections.create,
        create_channel_connection_request_dto={
            "integration_identifier": "slack",
            "identifier": "acme",
            "subscriber_id": "ada",
            "context": {"tenant": "acme"},
            "workspace": workspace,
            "auth": auth,
        },
    )
    changed = await call(
        client.channel_connections.update,
        identifier="acme",
        update_channel_connection_request_dto={"workspace": {"id": "T2"}, "auth": auth},
    )
    listed = await call(
        client.channel_connections.list,
        request={"subscriber_id": "ada", "connection_mode": "subscriber", "context_keys": ["tenant:acme"], "limit": 5},
    )
    made = await call(
        client.channel_endpoints.create,
        request_body={
            "type": "slack_user",
            "identifier": "adas",
            "subscriber_id": "ada",
            "integration_identifier": "slack",
            "connection_identifier": "acme",
            "context": {"tenant": {"id": "acme"}},
            "endpoint": {"user_id": "U1"},
        },
    )
    moved = await call(
        client.channel_endpoints.update,
        identifier="adas",
        update_channel_endpoint_request_dto={"endpoint": {"user_id": "U2"}},
    )
    endpoints = await call(client.channel_endpoints.list, request={"connection_identifier": "acme", "channel": "chat"})

    assert (connected.workspace.name, connected.auth.access_token) == ("Acme", "********")
    assert (changed.workspace.id, listed.data[0].identifier) == ("T2", "acme")
    assert (made.type, made.context_keys, moved.endpoint.user_id) == ("slack_user", ["tenant:acme"], "U2")
    assert [one.identifier for one in endpoints.data] == ["adas"]
    assert (await call(client.channel_connections.retrieve, identifier="acme")).provider_id == "slack"
    connect = await call(
        client.integrations.generate_connect_o_auth_url,
        generate_connect_oauth_url_request_dto={"integration_identifier": "slack", "subscriber_id": "ada"},
    )
    link = await call(
        client.integrations.generate_link_user_o_auth_url,
        generate_link_user_oauth_url_request_dto={
            "integration_identifier": "slack",
            "subscriber_id": "ada",
            "connection_identifier": "acme",
            "context": {"tenant": "acme"},
            "user_scope": ["identity.basic"],
        },
    )
    both = await call(
        client.integrations.generate_chat_o_auth_url,
        generate_chat_oauth_url_request_dto={
            "integration_identifier": "slack",
            "subscriber_id": "ada",
            "mode": "link_user",
        },
    )
    assert all(one.url.startswith("https://slack.com/oauth/v2/authorize?state=") for one in (connect, link, both))
    await call(client.channel_connections.delete, identifier="acme")
    assert (await call(client.channel_endpoints.retrieve, identifier="adas")).connection_identifier is None
    await call(client.channel_endpoints.delete, identifier="adas")
