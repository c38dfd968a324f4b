"""Write requests that share a unit of work: one that breaks it fails alone."""

import asyncio
from collections.abc import Sequence

import pytest

from clarion.app import Application
from clarion.db.port import Database
from clarion.errors import RequestError
from clarion.http.caller import ANONYMOUS
from clarion.http.operation import Call, operation
from clarion.http.wire import Wire
from clarion.http.writes import WriteRequest, WriteRunner
from tests.garbage import count_alive, without_collections

greeted: list[str] = []


class GreetingIn(Wire):
    name: str


class GreetingOut(Wire):
    greeting: str


@operation("POST", "/greetings", public=True, status=201, body=GreetingIn, batched=True)
async def greet(calls: Sequence[Call], bodies: Sequence[GreetingIn]) -> list[GreetingOut | RequestError]:
    """Greet people."""
    if any(body.name == "breaks" for body in bodies):
        raise RuntimeError("broken")
    call = calls[0]
    call.after_commit.append(lambda: greeted.append(call.caller.organization_id.hex()))
    return [GreetingOut(greeting=f"Hello {body.name}") for body in bodies]


def make_request(name: str) -> WriteRequest:
    return WriteRequest(
        operation=greet.__dict__["operation"],
        caller=ANONYMOUS,
        path_values=(),
        named={"body": GreetingIn(name=name)},
        key=None,
        display_path="/greetings",
        request_id=b"req_1",
    )


async def test_a_request_that_breaks_the_unit_of_work_fails_alone(database: Database, application: Application) -> None:
    writes = WriteRunner(database, application.services)

    first, broken, last = await asyncio.gather(
        *(writes.run(make_request(name)) for name in ("Ada", "breaks", "Bob")), return_exceptions=True
    )

    assert isinstance(broken, RuntimeError)
    assert [one.body for one in (first, last) if not isinstance(one, BaseException)] == [
        b'{"greeting":"Hello Ada"}',
        b'{"greeting":"Hello Bob"}',
    ]


async def test_calls_are_freed_when_they_are_answered(database: Database, application: Application) -> None:
    writes = WriteRunner(database, application.services)
    greeted.clear()
    with without_collections():
        for _ in range(3):
            await writes.run(make_request("Ada"))

        assert len(greeted) == 3
        # The thread that writes to SQLite may still refer to the last one.
        assert count_alive(Call) <= 1


async def test_the_operation_is_described_by_one_request(database: Database, application: Application) -> None:
    published = greet.__dict__["operation"]

    assert (published.body_shape, published.result, published.is_batched) == (GreetingIn, GreetingOut, True)
    with pytest.raises(RuntimeError):
        await WriteRunner(database, application.services).run(make_request("breaks"))
