"""Operations that run outside any transaction, and prechecks of operations that run inside one."""

import httpx
import pytest

from clarion.app import Application
from clarion.db.port import Connection, Database
from clarion.db.query import sql
from clarion.errors import Invalid
from clarion.http.authorization import Authenticators
from clarion.http.caller import Caller
from clarion.http.operation import Call, DetachedCall, Operation, Transaction, operation
from clarion.http.responses import RawResponse
from clarion.http.service import Service
from clarion.http.wire import Wire

ONE = sql("SELECT 1 AS one")


class NameIn(Wire):
    name: str


class NameOut(Wire):
    name: str


@operation("POST", "/echo", public=True, transaction=Transaction.NONE, foreign=True)
async def echo(call: DetachedCall) -> RawResponse:
    """Repeat the request."""

    async def read(db: Connection) -> int:
        row = await db.fetch_one(ONE)
        return int(row["one"]) if row else 0

    seen = await call.database.read(read)
    said = call.request.headers[b"x-word"] + b" " + call.request.query + b" " + call.request.body
    return RawResponse(202, b"text/plain", b"%d %b" % (seen, said))


async def refuse_nobody(call: DetachedCall, body: NameIn) -> None:
    if body.name == "nobody":
        raise Invalid.field("name", "is not known elsewhere", body.name)


@operation("POST", "/names", public=True, status=201, body=NameIn, precheck=refuse_nobody)
async def name(call: Call, body: NameIn) -> NameOut:
    """Name somebody."""
    await call.db.fetch_one(ONE)
    return NameOut(name=body.name)


@pytest.fixture
def client(application: Application, database: Database) -> httpx.AsyncClient:
    async def nobody(_: str | None, *, is_suspect: bool) -> Caller:
        raise AssertionError("these are open to everyone")

    def no_session(_: str | None) -> Caller:
        raise AssertionError("these need no session")

    async def no_member(*_: object, in_environment: bool, is_suspect: bool) -> Caller:
        raise AssertionError("these need no member")

    published: list[Operation] = [one.__dict__["operation"] for one in (echo, name)]
    service = Service(
        published,
        database=database,
        services=application.services,
        authenticators=Authenticators(key=nobody, session=no_session, member=no_member),
        pages={},
    )
    return httpx.AsyncClient(transport=httpx.ASGITransport(app=service), base_url="http://clarion.test")


async def test_a_detached_operation_sees_the_raw_request_and_may_answer_in_any_type(client: httpx.AsyncClient) -> None:
    response = await client.post("/echo?a=1", content=b"\xff raw", headers={"X-Word": "hello"})

    assert (response.status_code, response.content) == (202, b"1 hello a=1 \xff raw")
    assert response.headers["content-type"] == "text/plain"


async def test_a_precheck_may_refuse_the_request(client: httpx.AsyncClient) -> None:
    made = await client.post("/names", json={"name": "ada"})
    refused = await client.post("/names", json={"name": "nobody"})

    assert (made.status_code, made.json()) == (201, {"name": "ada"})
    assert (refused.status_code, list(refused.json()["errors"])) == (422, ["name"])
