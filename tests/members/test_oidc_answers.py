"""Answers of OpenID Connect providers that differ from those of the one in the other tests."""

import asyncio
import base64
import json
import time
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

import jwt
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from clarion.clock import HOUR, ManualClock
from clarion.members.model import read_address
from clarion.members.oidc.discovery import FAILURE_CACHED_FOR, KEYS_FETCHED_EVERY
from clarion.members.oidc.flow import Identity, OidcClient, OidcProvider, ProviderRedirect, SignInAttempt
from clarion.members.oidc.problem import OidcProblem, OidcRefusal
from clarion.secret import Secret
from clarion.vault import Vault
from tests.asgi_server import serve_asgi
from tests.rsa_keys import rsa_key

ADA = read_address("ada@example.com")
ABSENT = "left out"
KEY = rsa_key(2_048)


class Provider:
    """One that authenticates clients by header only, has no addresses in ID tokens, and sends answers in parts."""

    def __init__(self) -> None:
        self.address = ""
        self.claims: dict[str, Any] = {"sub": "ada"}
        self.user_info: dict[str, Any] = {"sub": "ada", "email": "ada@example.com", "email_verified": "true"}
        self.forms: list[Any] = []
        self.described: dict[str, Any] = {}
        """What it says of itself beside the usual."""
        self.is_down = False
        self.key_id = "first"
        self.descriptions = 0

    async def describe(self, request: Request) -> Response:
        self.descriptions += 1
        if self.is_down:
            return Response(status_code=503)
        paths = {"authorization_endpoint": "authorize", "token_endpoint": "token", "jwks_uri": "keys"}
        document = {name: f"{self.address}/{path}" for name, path in paths.items()}
        document |= {"issuer": self.address, "userinfo_endpoint": f"{self.address}/userinfo"}
        return send_in_parts({**document, **self.described, "scopes_supported": ["x" * 100] * 1000})

    async def exchange(self, request: Request) -> Response:
        self.forms.append(dict(parse_qsl((await request.body()).decode())))
        name = base64.b64encode(b"clarion:a+secret%3A").decode()
        if request.headers.get("Authorization") != f"Basic {name}":
            return JSONResponse({"error": "invalid_client"}, status_code=401)
        now = int(time.time())
        claims = {"iss": self.address, "aud": "clarion", "iat": now, "exp": now + 60, **self.claims}
        token = jwt.encode(claims, KEY, algorithm="RS256", headers={"kid": self.key_id})
        return JSONResponse({"id_token": token, "access_token": "access", "token_type": "Bearer"})

    async def list_keys(self, request: Request) -> Response:
        key = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(KEY.public_key()))
        return send_in_parts({"keys": [{**key, "kid": self.key_id}]})

    async def show_user(self, request: Request) -> Response:
        assert request.headers["Authorization"] == "Bearer access"
        return JSONResponse(self.user_info)


def send_in_parts(document: dict[str, Any]) -> Response:
    async def parts() -> AsyncIterator[bytes]:
        text = json.dumps(document).encode()
        yield text[:10]
        yield text[10:]

    return StreamingResponse(parts(), media_type="application/json")


@pytest.fixture
async def provider() -> AsyncIterator[Provider]:
    made = Provider()
    routes = [
        Route("/.well-known/openid-configuration", made.describe),
        Route("/token", made.exchange, methods=["POST"]),
        Route("/keys", made.list_keys),
        Route("/userinfo", made.show_user),
    ]
    async with serve_asgi(Starlette(routes=routes)) as port:
        made.address = f"http://127.0.0.1:{port}"
        yield made


@pytest.fixture
def client(provider: Provider, vault: Vault, clock: ManualClock) -> OidcClient:
    settings = OidcProvider(
        issuer=provider.address,
        client_id="clarion",
        client_secret=Secret("a secret:"),
        redirect_url="https://clarion.example.com/v1/auth/oidc/callback",
    )
    return OidcClient(settings, vault, clock)


async def finish(
    client: OidcClient, provider: Provider, attempt: SignInAttempt, *, issuer: str = "", **claims: Any
) -> Identity:
    asked = {name: values[0] for name, values in parse_qs(urlsplit(attempt.url).query).items()}
    given = {"sub": "ada", "nonce": asked["nonce"], **claims}
    provider.claims = {name: value for name, value in given.items() if value != ABSENT}
    redirect = ProviderRedirect(state=asked["state"], code="code", issuer=issuer)
    return (await client.finish(attempt.cookie, redirect)).identity


async def test_addresses_outside_of_the_id_token_are_asked_for(client: OidcClient, provider: Provider) -> None:
    found = await finish(client, provider, await client.begin())

    assert found == Identity(ADA, ADA)
    assert "client_secret" not in provider.forms[0]


async def test_the_address_of_another_person_is_not_used(client: OidcClient, provider: Provider) -> None:
    provider.user_info["sub"] = "eve"

    with pytest.raises(OidcProblem) as refused:
        await finish(client, provider, await client.begin())

    assert refused.value.reason is OidcRefusal.NO_ADDRESS


@pytest.mark.parametrize(
    "claims",
    [
        {"nonce": "other"},
        {"nonce": ABSENT},
        {"nonce": None},
        {"aud": "another"},
        {"aud": ["clarion", "another"]},
        {"aud": ["clarion", "another"], "azp": "another"},
        {"azp": "another"},
        {"azp": ""},
        {"iss": "https://evil.example"},
        {"exp": 1},
    ],
    ids=str,
)
async def test_an_id_token_for_something_else_is_refused(
    client: OidcClient, provider: Provider, claims: dict[str, Any]
) -> None:
    with pytest.raises(OidcProblem):
        await finish(client, provider, await client.begin(), **claims)


async def test_an_id_token_for_several_clients_is_accepted_if_it_was_issued_to_this_one(
    client: OidcClient, provider: Provider
) -> None:
    found = await finish(client, provider, await client.begin(), aud=["clarion", "account"], azp="clarion")

    assert found.email == ADA


async def test_the_answer_of_another_issuer_is_refused(client: OidcClient, provider: Provider) -> None:
    with pytest.raises(OidcProblem, match=r"https://evil\.example") as refused:
        await finish(client, provider, await client.begin(), issuer="https://evil.example")

    assert refused.value.reason is OidcRefusal.BEGIN_AGAIN
    assert provider.forms == []
    assert (await finish(client, provider, await client.begin(), issuer=provider.address)).email == ADA


async def test_a_provider_that_names_itself_must_do_so(client: OidcClient, provider: Provider) -> None:
    provider.described = {"authorization_response_iss_parameter_supported": True}

    with pytest.raises(OidcProblem):
        await finish(client, provider, await client.begin())

    assert (await finish(client, provider, await client.begin(), issuer=provider.address)).email == ADA


@pytest.mark.parametrize("email", ["\u212aim@example.com", "ada@example.com\n", "ada"], ids=ascii)
async def test_an_address_that_no_member_can_have_is_refused(
    client: OidcClient, provider: Provider, email: str
) -> None:
    provider.user_info["email"] = email

    with pytest.raises(OidcProblem) as refused:
        await finish(client, provider, await client.begin())

    assert refused.value.reason is OidcRefusal.NO_ADDRESS


async def test_many_who_begin_share_one_call_of_the_provider(
    client: OidcClient, provider: Provider, clock: ManualClock
) -> None:
    await asyncio.gather(*(client.begin() for _ in range(20)))
    await client.begin()
    once = provider.descriptions
    clock.move(HOUR)
    await client.begin()

    assert (once, provider.descriptions) == (1, 2)


async def test_a_provider_that_fails_is_not_called_again_at_once(
    client: OidcClient, provider: Provider, clock: ManualClock
) -> None:
    provider.is_down = True
    failed = await asyncio.gather(*(client.begin() for _ in range(20)), return_exceptions=True)
    provider.is_down = False
    with pytest.raises(OidcProblem, match="503"):
        await client.begin()
    calls = provider.descriptions
    clock.move(FAILURE_CACHED_FOR)

    assert calls == 1
    assert {str(one) for one in failed} == {str(failed[0])}
    assert (await client.begin()).url.startswith(provider.address)


async def test_new_keys_of_the_provider_are_found(client: OidcClient, provider: Provider, clock: ManualClock) -> None:
    await finish(client, provider, await client.begin())
    provider.key_id = "second"
    with pytest.raises(OidcProblem, match="does not publish"):
        await finish(client, provider, await client.begin())
    clock.move(KEYS_FETCHED_EVERY)

    assert (await finish(client, provider, await client.begin())).email == ADA
