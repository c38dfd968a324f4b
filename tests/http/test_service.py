"""Behaviour that all operations share, tested over HTTP."""

import gzip
from typing import Any

import httpx
import pytest

from clarion.app import Application, build_application
from clarion.clock import DAY, SECOND, ManualClock
from clarion.db.port import Database
from clarion.http.service import MAX_LOOP_BYTES
from clarion.operations import OPERATIONS
from clarion.providers.sending.gateway import ProviderGateway
from clarion.settings.model import Settings
from clarion.vault import Vault
from clarion.vocabulary import Scope
from tests.support import Api, MakeApi

JSON = {"Content-Type": "application/json"}
KEYS = "/v1/environments/api-keys"


def shape(body: dict[str, Any]) -> set[str]:
    return set(body) - {"ctx"}


async def test_all_errors_have_the_same_shape(api: Api) -> None:
    response = await api.get("/v2/subscribers/nobody?x=1")

    assert response.status_code == 404
    assert response.json() == {
        "statusCode": 404,
        "timestamp": "2026-01-01T00:00:00.000Z",
        "path": "/v2/subscribers/nobody?x=1",
        "message": "Subscriber 'nobody' does not exist in this environment",
        "error": "Not Found",
    }


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "ApiKey",
        "ApiKey ",
        "ApiKey wrong",
        "Bearer {key}",
        "apikey {key}",
        "{key}",
        "ApiKey {key}x",
        "ApiKey \xff",
    ],
)
async def test_without_a_valid_key_nothing_is_done(api: Api, header: str | None) -> None:
    headers = {} if header is None else {b"Authorization": header.format(key=api.key).encode("latin-1")}
    request = httpx.Request("GET", "http://clarion.test/v2/subscribers", headers=headers)

    response = await api.send(request)

    assert response.status_code == 401
    assert response.headers["www-authenticate"] == "ApiKey"
    assert shape(response.json()) == {"statusCode", "timestamp", "path", "message", "error"}


async def test_every_operation_but_health_receipts_links_and_beginning_a_session_needs_a_key_or_a_session(
    application: Application,
) -> None:
    transport = httpx.ASGITransport(app=application.asgi)
    async with httpx.AsyncClient(transport=transport, base_url="http://clarion.test") as client:
        answers = {
            (one.method, one.path): (await client.request(one.method, one.path)).status_code for one in OPERATIONS
        }

    reports = "/v2/inbound-webhooks/delivery-providers/{environmentId}/{integrationId}"
    assert {route for route, status in answers.items() if status != 401} == {
        ("GET", "/v1/health-check"),
        ("POST", "/v1/inbox/session"),
        ("POST", "/v1/auth/sign-in"),
        ("POST", "/v1/auth/sign-out"),
        ("GET", "/v1/auth/methods"),
        *(("GET", f"/v1/auth/oidc/{one}") for one in ("start", "callback")),
        *(("POST", f"/v1/auth/{one}") for one in ("setup", "invitation", "invitation/accept")),
        *(("POST", f"/v1/auth/{one}") for one in ("reset-request", "reset")),
        *((method, reports) for method in ("GET", "HEAD", "POST")),
        *((method, page) for method in ("GET", "POST") for page in ("/unsubscribe", "/preferences", "/answer")),
        *((method, f"/t/{kind}/{{linkToken}}") for method in ("GET", "HEAD") for kind in ("c", "o")),
        ("GET", "/t/proof/{challenge}"),
        ("GET", "/v1/integrations/chat/oauth/callback"),
        ("POST", "/v1/integrations/chat/oauth/confirm"),
        ("POST", "/v2/inbound-webhooks/mail/{environmentId}/{integrationId}"),
        ("POST", "/v2/inbound-webhooks/telegram/{environmentId}/{integrationId}"),
        *((method, "/connect/telegram/{environmentId}") for method in ("GET", "POST")),
    }


async def test_a_key_without_the_scope_is_refused_on_every_operation(make_api: MakeApi) -> None:
    for operation in OPERATIONS:
        if operation.scope is None:
            continue
        others = frozenset(Scope) - {operation.scope, Scope.ALL}
        api = await make_api(scopes=others)

        response = await api.request(operation.method, operation.path)

        assert response.status_code == 403, operation.path
        assert operation.scope in response.json()["message"]


async def test_the_right_scope_is_enough(make_api: MakeApi) -> None:
    api = await make_api(scopes=frozenset({Scope.SUBSCRIBERS_READ}))

    assert (await api.get("/v2/subscribers")).status_code == 200
    assert (await api.post("/v2/subscribers", json={"subscriberId": "x"})).status_code == 403


@pytest.mark.parametrize(
    ("content", "headers", "status"),
    [
        (b"{", JSON, 400),
        (b"", JSON, 400),
        (b"\xff\xff", JSON, 400),
        (b'{"subscriberId": "\xff"}', JSON, 400),
        (b"[" * 5000, JSON, 400),
        (b'{"subscriberId": "x", "data": ' + b'{"a":' * 70 + b"1" + b"}" * 71, JSON, 400),
        (b"null", JSON, 422),
        (b"[]", JSON, 422),
        (b'"text"', JSON, 422),
        (b'{"subscriberId": "x", "data": {"n": 1e999}}', JSON, 422),
        (b'{"subscriberId": "\\u0000"}', JSON, 422),
        (b'{"subscriberId": "\\ud800"}', JSON, 400),
        (b"subscriberId=x", {"Content-Type": "application/x-www-form-urlencoded"}, 415),
        (b'{"subscriberId": "x"}', {"Content-Type": "text/plain"}, 415),
        (b'{"subscriberId": "x", "data": {"a": "' + b"x" * (1024 * 1024) + b'"}}', JSON, 413),
    ],
)
async def test_bad_bodies_get_their_status_and_change_nothing(
    api: Api, content: bytes, headers: dict[str, str], status: int
) -> None:
    response = await api.post("/v2/subscribers", content=content, headers=headers)

    assert response.status_code == status
    assert response.json()["statusCode"] == status
    assert (await api.get("/v2/subscribers")).json()["totalCount"] == 0


@pytest.mark.parametrize(
    "content_type", ["application/json", "application/json; charset=utf-8", "application/vnd.x+json"]
)
async def test_the_usual_content_types_of_json_are_accepted(api: Api, content_type: str) -> None:
    response = await api.post(
        "/v2/subscribers", content=b'{"subscriberId": "x"}', headers={"Content-Type": content_type}
    )

    assert response.status_code == 201


async def test_a_body_that_arrives_in_chunks_is_limited_too(api: Api) -> None:
    async def pieces() -> Any:
        for _ in range(40):
            yield b" " * 64 * 1024

    response = await api.post("/v2/subscribers", content=pieces(), headers=JSON)

    assert response.status_code == 413


@pytest.mark.parametrize("path", ["/v3/subscribers", "/v2/subscribers/", "/v2//subscribers", "/v2/subscribers/%ff"])
async def test_unknown_paths_are_not_found(api: Api, path: str) -> None:
    assert (await api.get(path)).status_code == 404


async def test_a_wrong_method_is_refused_with_those_that_are_allowed(api: Api) -> None:
    response = await api.delete("/v2/subscribers")

    assert response.status_code == 405
    assert response.headers["allow"] == "GET, POST"


async def test_an_encoded_slash_is_part_of_the_segment(api: Api) -> None:
    await api.post("/v2/subscribers", json={"subscriberId": "team/ada"})

    assert (await api.get("/v2/subscribers/team%2Fada")).json()["subscriberId"] == "team/ada"


async def test_requests_have_ids_that_callers_may_choose(api: Api) -> None:
    own = await api.get("/v2/subscribers", headers={"X-Request-Id": "trace-1.2:3"})
    made = await api.get("/v2/subscribers", headers={"X-Request-Id": "not ok\t"})

    assert own.headers["x-request-id"] == "trace-1.2:3"
    assert made.headers["x-request-id"].startswith("req_")


async def test_large_responses_are_compressed_if_the_client_accepts_it(api: Api) -> None:
    await api.post("/v2/subscribers", json={"subscriberId": "x", "data": {"text": "a" * 5000}})

    async with api.stream("GET", "/v2/subscribers/x", headers={"Accept-Encoding": "gzip"}) as response:
        raw = b"".join([part async for part in response.aiter_raw()])

    assert response.headers["content-encoding"] == "gzip"
    assert b"aaaa" in gzip.decompress(raw)


async def test_bodies_and_responses_beyond_what_the_loop_handles_itself_work_alike(api: Api) -> None:
    texts = {str(number): f"{number}" * 1000 for number in range(10)}
    for number in range(40):
        body = {"subscriberId": f"x{number}", "data": texts}
        assert (await api.post("/v2/subscribers", json=body)).status_code == 201
    listed = await api.get("/v2/subscribers?limit=40", headers={"Accept-Encoding": "gzip"})
    refused = await api.post("/v2/subscribers", json={"subscriberId": 7, "data": {"text": "a" * 600_000}})

    assert len(listed.content) > MAX_LOOP_BYTES
    assert listed.headers["content-encoding"] == "gzip"
    assert [one["data"] for one in listed.json()["data"]] == [texts] * 40
    assert refused.status_code == 422
    assert list(refused.json()["errors"]) == ["subscriberId"]


async def test_browsers_of_configured_origins_may_call(
    database: Database, vault: Vault, clock: ManualClock, gateway: ProviderGateway, settings: Settings
) -> None:
    settings = Settings(data_dir=settings.data_dir, cors_origins=("https://app.example.com",))
    application = build_application(settings, database, vault, gateway, clock=clock)
    headers = {"Origin": "https://app.example.com", "Access-Control-Request-Method": "PATCH"}
    transport = httpx.ASGITransport(app=application.asgi)
    async with httpx.AsyncClient(transport=transport, base_url="http://clarion.test") as client:
        allowed = await client.options("/v2/subscribers/x", headers=headers)
        refused = await client.options("/v2/subscribers/x", headers=headers | {"Origin": "https://evil.example"})

    assert allowed.headers["access-control-allow-origin"] == "https://app.example.com"
    assert "access-control-allow-origin" not in refused.headers


async def test_the_health_check_is_public_and_includes_the_version(application: Application) -> None:
    transport = httpx.ASGITransport(app=application.asgi)
    async with httpx.AsyncClient(transport=transport, base_url="http://clarion.test") as client:
        response = await client.get("/v1/health-check")

    assert response.status_code == 200
    assert response.json()["status"] == "ok"
    assert response.json()["info"]["db"] == {"status": "up"}


async def test_a_key_is_refused_from_its_expiry_on(api: Api, clock: ManualClock) -> None:
    body = {"name": "short", "expiresAt": "2026-01-02T00:00:00.000Z"}
    made = (await api.post("/v1/environments/api-keys", json=body)).json()
    headers = {"Authorization": f"ApiKey {made['key']}"}

    before = await api.get("/v1/environments/me", headers=headers)
    clock.move(DAY - 1 * SECOND)
    still = await api.get("/v1/environments/me", headers=headers)
    clock.move(1 * SECOND)
    after = await api.get("/v1/environments/me", headers=headers)

    assert (before.status_code, still.status_code, after.status_code) == (200, 200, 401)


async def test_a_key_that_is_revoked_while_the_body_arrives_is_refused(api: Api, make_api: MakeApi) -> None:
    leaving = await make_api(api.environment, frozenset({Scope.ALL}))
    (key,) = [one for one in (await api.get(KEYS)).json() if leaving.key.endswith(one["hint"])]

    async def body() -> Any:
        yield b'{"subscriberId": '
        assert (await api.delete(f"{KEYS}/{key['_id']}")).status_code == 204
        yield b'"late"}'

    response = await leaving.post("/v2/subscribers", content=body(), headers=JSON)

    assert response.status_code == 401
    assert (await api.get("/v2/subscribers/late")).status_code == 404
