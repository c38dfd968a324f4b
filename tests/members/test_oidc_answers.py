"""Answers of OpenID Connect providers that differ from those of the one in the other tests."""

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

from clarion.clock import ManualClock
from clarion.members.oidc import Attempt, Identity, OidcClient, OidcProvider
from clarion.members.oidc_problem import OidcProblem, OidcRefusal
from clarion.secret import Secret
from clarion.vault import Vault
from tests.asgi_server import serve_asgi
from tests.rsa_keys import rsa_key

KEY = rsa_key(2_048)


class Provider:
    """One that authenticates clients by header only, has no addresses in ID tokens, and sends answers in parts."""

    def __init__(self) -> None:
        self.address = ""
        self.claims: dict[str, Any] = {"sub": "ada"}
        self.user_info: dict[str, Any] = {"sub": "ada", "email": "ada@example.com", "email_verified": "true"}
        self.forms: list[Any] = []

    async def describe(self, request: Request) -> Response:
        paths = {"authorization_endpoint": "authorize", "token_endpoint": "token", "jwks_uri": "keys"}
        document = {name: f"{self.address}/{path}" for name, path in paths.items()}
        document |= {"issuer": self.address, "userinfo_endpoint": f"{self.address}/userinfo"}
        return send_in_parts({**document, "scopes_supported": ["x" * 100] * 1000})

    async def exchange(self, request: Request) -> Response:
        self.forms.append(dict(parse_qsl((await request.body()).decode())))
        name = base64.b64encode(b"clarion:a+secret%3A").decode()
        if request.headers.get("Authorization") != f"Basic {name}":
            return JSONResponse({"error": "invalid_client"}, status_code=401)
        now = int(time.time())
        claims = {"iss": self.address, "aud": "clarion", "iat": now, "exp": now + 60, **self.claims}
        token = jwt.encode(claims, KEY, algorithm="RS256")
        return JSONResponse({"id_token": token, "access_token": "access", "token_type": "Bearer"})

    async def list_keys(self, request: Request) -> Response:
        key = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(KEY.public_key()))
        return send_in_parts({"keys": [key]})

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


async def finish(client: OidcClient, provider: Provider, attempt: Attempt, **claims: Any) -> Identity:
    asked = {name: values[0] for name, values in parse_qs(urlsplit(attempt.url).query).items()}
    provider.claims = {"sub": "ada", "nonce": asked["nonce"], **claims}
    return (await client.finish(attempt.cookie, state=asked["state"], code="code")).identity


async def test_addresses_outside_of_the_id_token_are_asked_for(client: OidcClient, provider: Provider) -> None:
    found = await finish(client, provider, await client.begin())

    assert found == Identity("ada@example.com", "ada@example.com")
    assert "client_secret" not in provider.forms[0]


async def test_the_address_of_another_person_is_not_used(client: OidcClient, provider: Provider) -> None:
    provider.user_info["sub"] = "eve"

    with pytest.raises(OidcProblem) as refused:
        await finish(client, provider, await client.begin())

    assert refused.value.reason is OidcRefusal.NO_ADDRESS


@pytest.mark.parametrize(
    "claims", [{"nonce": "other"}, {"aud": "another"}, {"iss": "https://evil.example"}, {"exp": 1}], ids=str
)
async def test_an_id_token_for_something_else_is_refused(
    client: OidcClient, provider: Provider, claims: dict[str, Any]
) -> None:
    with pytest.raises(OidcProblem):
        await finish(client, provider, await client.begin(), **claims)
