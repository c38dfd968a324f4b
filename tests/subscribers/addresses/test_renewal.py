"""Tokens of connections that have ended are renewed, once, whoever needs them, on both databases."""

import asyncio
import json
from collections.abc import AsyncIterator
from functools import partial
from typing import Any
from urllib.parse import parse_qs

import pytest

from clarion.clock import HOUR, MINUTE, ManualClock, Millis, iso_text
from clarion.db.port import Database
from clarion.ids import ConnectionId
from clarion.integrations.model import Integration
from clarion.jsontext import json_value
from clarion.providers.definition.request import ProviderRequest
from clarion.providers.definition.result import FailureKind, ProviderAnswer, SendFailure
from clarion.providers.sending.gateway import ProviderGateway
from clarion.subscribers.addresses.oauth.renewal import TokenRenewer
from clarion.subscribers.addresses.oauth.store import get_account
from clarion.subscribers.addresses.sealing import reencrypt_addresses
from clarion.subscribers.model import ExpiringToken
from clarion.vault import Vault
from tests.engine.support import World, step
from tests.providers.contract.vendor import Received, Reply, Vendor, play
from tests.subscribers.addresses.oauth import open_gateway
from tests.subscribers.addresses.support import (
    CONNECTIONS,
    ENDPOINTS,
    SLACK,
    WEBEX,
    connect,
    create,
    endpoint,
    rows_of,
)

REFUSED = Reply(status=400, body={"message": "The refresh token old-refresh is invalid"})
LIFETIME = 14 * 24 * HOUR


class Tokens:
    """Takes each refresh token once, as vendors do who rotate them."""

    def __init__(self) -> None:
        self.valid, self.given = "old-refresh", 0
        self.exchanges: list[dict[str, str]] = []
        self.sent: list[str | None] = []
        self.refusal: Reply | None = None
        self.lifetime: int | None = LIFETIME // 1000

    def answer(self, request: Received) -> Reply:
        if not request.url.endswith(("/access_token", "/oauth.v2.access")):
            self.sent.append(request.headers.get("authorization"))
            return Reply(body={"ok": True, "ts": "1", "id": "m-1"})
        form = {name: values[0] for name, values in parse_qs(request.body.decode()).items()}
        self.exchanges.append(form)
        if self.refusal is not None:
            return self.refusal
        if form["refresh_token"] != self.valid:
            return REFUSED
        self.given += 1
        self.valid = f"refresh-{self.given}"
        body = {"ok": True, "access_token": f"access-{self.given}", "refresh_token": self.valid}
        return Reply(body=body | ({} if self.lifetime is None else {"expires_in": self.lifetime}))


@pytest.fixture
def tokens() -> Tokens:
    return Tokens()


@pytest.fixture
async def vendor(tokens: Tokens) -> AsyncIterator[Vendor]:
    async with play(tokens.answer) as vendor:
        yield vendor


@pytest.fixture
async def gateway(clock: ManualClock, vendor: Vendor) -> AsyncIterator[ProviderGateway]:
    async with open_gateway(vendor, clock) as entered:
        yield entered


@pytest.fixture
async def account(world: World, clock: ManualClock, database: Database, vault: Vault) -> Integration:
    """That of Webex, with a connection whose token ends in an hour, and a room."""
    await make(world, clock, WEBEX, type="webex_room", endpoint={"roomId": "room-1"})
    get = partial(get_account, environment_id=world.api.environment.id, identifier="webex", vault=vault)
    return await database.read(get)


async def make(world: World, clock: ManualClock, integration: dict[str, Any], **fields: Any) -> None:
    await create(world.api, "/v1/integrations", integration)
    await create(world.api, "/v2/subscribers", {"subscriberId": "ada"})
    place = {"integrationIdentifier": integration["identifier"]}
    ends = {"expiresAt": iso_text(Millis(clock.now() + HOUR)), "refreshToken": "old-refresh"}
    auth = {"accessToken": "old-access", **ends}
    await connect(world.api, **place, identifier="acme", subscriberId="ada", auth=auth)
    await create(world.api, ENDPOINTS, endpoint(**place, connectionIdentifier="acme", **fields))
    await world.make_workflow(step("chat", body="Hello"))


async def send(world: World) -> None:
    await world.trigger()
    await world.work()


async def stored_auth(world: World, database: Database, vault: Vault) -> dict[str, str]:
    (row,) = await rows_of(database, world.api, "channel_connections")
    auth: dict[str, str] = json_value(vault.open(row["auth"], context=row["environment_id"] + row["id"]))
    return auth


async def trouble(world: World) -> Any:
    return (await world.api.get(f"{CONNECTIONS}/acme")).json()["trouble"]


async def make_token(world: World, database: Database) -> ExpiringToken:
    (row,) = await rows_of(database, world.api, "channel_connections")
    return ExpiringToken(
        environment_id=world.api.environment.id, connection_id=ConnectionId(row["id"]), expires_at=Millis(0)
    )


async def test_a_token_that_has_ended_is_renewed_before_the_message_is_sent(
    world: World, account: Integration, tokens: Tokens, clock: ManualClock, database: Database, vault: Vault
) -> None:
    await send(world)
    clock.move(HOUR)
    await send(world)
    await send(world)

    assert tokens.sent == ["Bearer old-access", "Bearer access-1", "Bearer access-1"]
    assert tokens.exchanges == [
        {
            "grant_type": "refresh_token",
            "client_id": "client-1",
            "client_secret": "webex-secret",
            "refresh_token": "old-refresh",
        }
    ]
    assert await stored_auth(world, database, vault) == {
        "accessToken": "access-1",
        "refreshToken": "refresh-1",
        "expiresAt": iso_text(Millis(clock.now() + LIFETIME)),
    }
    assert await trouble(world) is None


async def test_a_token_without_an_end_is_not_renewed_with_each_message(
    world: World, account: Integration, tokens: Tokens, clock: ManualClock, database: Database, vault: Vault
) -> None:
    clock.move(HOUR)
    tokens.lifetime = None

    await send(world)
    await send(world)

    assert tokens.sent == ["Bearer access-1"] * 2
    assert len(tokens.exchanges) == 1
    assert await stored_auth(world, database, vault) == {"accessToken": "access-1", "refreshToken": "refresh-1"}


async def test_tokens_of_slack_that_rotate_are_renewed(world: World, tokens: Tokens, clock: ManualClock) -> None:
    await make(world, clock, SLACK)
    clock.move(HOUR)

    await send(world)

    ((exchange,), sent) = tokens.exchanges, tokens.sent
    assert (exchange["grant_type"], exchange["refresh_token"]) == ("refresh_token", "old-refresh")
    assert sent == ["Bearer access-1"]


@pytest.fixture
def renewer(database: Database, vault: Vault, clock: ManualClock, gateway: ProviderGateway) -> TokenRenewer:
    return TokenRenewer(database, vault, clock, gateway.call)


async def test_all_that_wait_for_a_token_share_one_exchange(
    world: World, account: Integration, tokens: Tokens, clock: ManualClock, database: Database, renewer: TokenRenewer
) -> None:
    clock.move(HOUR)
    token = await make_token(world, database)

    given = await asyncio.gather(*(renewer.get_token(token, account) for _ in range(10)))

    assert (set(given), len(tokens.exchanges)) == ({"access-1"}, 1)


async def test_two_processes_spend_a_refresh_token_once(
    world: World, account: Integration, clock: ManualClock, database: Database, vault: Vault
) -> None:
    """The second one asks to come back later, and then finds the new token."""
    clock.move(HOUR)
    token = await make_token(world, database)
    asked, go_on = asyncio.Event(), asyncio.Event()
    spent = []

    async def ask(request: ProviderRequest) -> ProviderAnswer:
        spent.append(request.body["refresh_token"])
        asked.set()
        await go_on.wait()
        text = json.dumps({"access_token": "new", "refresh_token": "next", "expires_in": 3600})
        return ProviderAnswer(status=200, text=text, headers={}, retry_after=None, received_at=clock.now())

    first, second = (TokenRenewer(database, vault, clock, ask) for _ in range(2))
    running = asyncio.create_task(first.get_token(token, account))
    await asked.wait()
    with pytest.raises(SendFailure) as busy:
        await second.get_token(token, account)
    # The vault's key may change meanwhile.
    await reencrypt_addresses(database, vault)
    go_on.set()

    assert (busy.value.kind, busy.value.retry_after) == (FailureKind.RATE_LIMITED, 2)
    assert (await running, await second.get_token(token, account), spent) == ("new", "new", ["old-refresh"])


async def test_whoever_stops_waiting_loses_no_token(
    world: World, account: Integration, clock: ManualClock, database: Database, vault: Vault, renewer: TokenRenewer
) -> None:
    clock.move(HOUR)
    task = asyncio.create_task(renewer.get_token(await make_token(world, database), account))
    await asyncio.sleep(0)
    task.cancel()
    await renewer.finish()

    assert (await stored_auth(world, database, vault))["refreshToken"] == "refresh-1"


async def test_a_connection_that_was_connected_again_keeps_its_new_tokens(
    world: World, account: Integration, clock: ManualClock, database: Database, vault: Vault
) -> None:
    clock.move(HOUR)

    async def ask(_: ProviderRequest) -> ProviderAnswer:
        auth = {"accessToken": "by-hand", "refreshToken": "by-hand"}
        await world.api.patch(f"{CONNECTIONS}/acme", json={"workspace": {"id": "T1"}, "auth": auth})
        return ProviderAnswer(status=400, text="{}", headers={}, retry_after=None, received_at=clock.now())

    renewer = TokenRenewer(database, vault, clock, ask)

    assert await renewer.get_token(await make_token(world, database), account) == "by-hand"
    assert await trouble(world) is None


async def test_a_refusal_is_shown_as_trouble_and_the_vendor_is_left_alone_for_an_hour(
    world: World, account: Integration, tokens: Tokens, clock: ManualClock
) -> None:
    clock.move(HOUR)
    tokens.refusal = REFUSED
    await send(world)
    await send(world)
    told = await trouble(world)
    events = await world.events()
    clock.move(HOUR)
    tokens.refusal = None
    await send(world)

    assert (told["needsConsent"], "connect the workspace again" in told["message"]) == (True, True)
    assert "old-refresh" not in json.dumps([told, events])
    assert await world.statuses() == [["failed"], ["failed"], ["completed"]]
    assert (len(tokens.exchanges), tokens.sent) == (2, ["Bearer access-1"])
    assert await trouble(world) is None


@pytest.mark.parametrize(
    "refusal",
    [
        Reply(status=503),
        Reply(status=429, headers={"Retry-After": "20"}),
        Reply(body={"ok": False, "error": "internal_error"}),
    ],
)
async def test_a_fault_of_the_vendor_is_tried_again(
    world: World, account: Integration, tokens: Tokens, clock: ManualClock, refusal: Reply
) -> None:
    clock.move(HOUR)
    tokens.refusal = refusal
    await send(world)
    told = await trouble(world)
    tokens.refusal = None
    clock.move(MINUTE)
    await world.work()

    assert told["needsConsent"] is False
    assert await world.statuses() == [["completed"]]
    assert tokens.sent == ["Bearer access-1"]


async def test_a_wrong_client_secret_does_not_ask_for_consent(
    world: World, account: Integration, tokens: Tokens, clock: ManualClock
) -> None:
    clock.move(HOUR)
    tokens.refusal = Reply(status=401, body={"error": "invalid_client"})

    await send(world)

    told = await trouble(world)
    assert (told["needsConsent"], "clientId and secretKey" in told["message"]) == (False, True)


async def test_a_connection_of_its_own_token_is_left_alone(world: World, tokens: Tokens, clock: ManualClock) -> None:
    """One that nobody gave a refresh token for is sent with as it is."""
    await make(world, clock, SLACK)
    auth = {"accessToken": "old-access", "expiresAt": iso_text(clock.now())}
    await world.api.patch(f"{CONNECTIONS}/acme", json={"workspace": {"id": "T1"}, "auth": auth})
    clock.move(HOUR)

    await send(world)

    assert (tokens.exchanges, tokens.sent) == ([], ["Bearer old-access"])
