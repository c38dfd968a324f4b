"""The minimum cost of the HTTP side of a trigger: Clarion's own HTTP stack with no work behind it.

The server, routing, limits, decoding and the response are those of `clarion serve`. There is no store, so requests have
no idempotency key and every API key is accepted.
"""

import argparse
import base64
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, cast

import uvicorn

from clarion.bus import Bus
from clarion.clock import SystemClock
from clarion.db.port import Connection, Database, Dialect
from clarion.http.authorization import Authenticators
from clarion.http.caller import Caller
from clarion.http.limits import LARGE_BODY
from clarion.http.operation import Call, Operation, operation
from clarion.http.service import Service
from clarion.http.services import Services
from clarion.http.static import StaticPage
from clarion.ids import ApiKeyId, EnvironmentId, OrganizationId
from clarion.limits.limiter import Limits, RateLimiter
from clarion.providers.builtin import BuiltinNames
from clarion.providers.sending.gateway import ProviderGateway
from clarion.providers.transport.egress import EgressGuard
from clarion.settings.model import Settings
from clarion.triggers.model import TriggerOutcome
from clarion.triggers.wire import TriggerIn, TriggerResultOut
from clarion.vault import Vault
from clarion.vocabulary import Scope

SECTION = "Events"
"""Of the description of the API; other modules have that of their room, and a script is in none."""


@operation("POST", "/v1/events/trigger", scope=Scope.EVENTS_WRITE, status=201, body=TriggerIn, body_limit=LARGE_BODY)
async def accept(call: Call, body: TriggerIn) -> TriggerResultOut:  # noqa: ARG001 - an operation has a call
    """Accept a trigger and discard it."""
    return TriggerResultOut(acknowledged=True, status=TriggerOutcome.PROCESSED, transaction_id=body.name)


class _NoStore:
    """Runs a unit of work without a connection."""

    dialect = Dialect.SQLITE

    async def read(self, work: Callable[[Any], Awaitable[Any]]) -> Any:
        return await work(None)

    async def transaction(self, work: Callable[[Any], Awaitable[Any]]) -> Any:
        return await work(None)


_CALLER = Caller(EnvironmentId(bytes(16)), OrganizationId(bytes(16)), ApiKeyId(bytes(16)), frozenset({Scope.ALL}))


async def _authenticate(_: str | None, *, is_suspect: bool) -> Caller:  # noqa: ARG001
    return _CALLER


async def _authenticate_member(*_: object, in_environment: bool, is_suspect: bool) -> Caller:  # noqa: ARG001
    return _CALLER


async def _read_no_limits(_: Connection, __: EnvironmentId) -> Limits:
    return {}


def _make_service() -> Service:
    published: Operation = accept.__dict__["operation"]
    clock, bus, database = SystemClock(), Bus(), cast("Database", _NoStore())
    services = Services(
        settings=Settings(data_dir=Path()),
        clock=clock,
        vault=Vault.parse(f"none:{base64.b64encode(bytes(32)).decode()}"),
        names=BuiltinNames(""),
        bus=bus,
        gateway=ProviderGateway(EgressGuard(())),
        limiter=RateLimiter(database, clock, bus, _read_no_limits),
    )
    return Service(
        [published],
        database=database,
        services=services,
        authenticators=Authenticators(key=_authenticate, session=lambda _: _CALLER, member=_authenticate_member),
        # The bench polls this page until the server has started.
        pages={"/v1/health-check": lambda: StaticPage(b"application/json", b"{}")},
    )


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--port", type=int, required=True)
    port: int = arguments.parse_args().port
    uvicorn.run(
        _make_service(),
        port=port,
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        loop="uvloop",
        http="httptools",
        ws="none",
        timeout_keep_alive=61,
    )


if __name__ == "__main__":
    main()
