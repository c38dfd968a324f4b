"""Operations: a plain async function with typed input and output, and how it is reached over HTTP."""

import inspect
import re
import typing
from collections.abc import Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import Any, Generic, TypeVar

from msgspec import Struct

from clarion.bus import Bus
from clarion.clock import Clock, Millis
from clarion.db.port import Connection, Database
from clarion.errors import NotFound
from clarion.http.limits import SMALL_BODY
from clarion.http.queries import query_reader
from clarion.http.validation import body_reader
from clarion.http.wire import Wire
from clarion.ids import ApiKeyId, EnvironmentId, OrganizationId, find_id
from clarion.providers.builtin.names import BuiltinNames
from clarion.providers.sending.gateway import ProviderGateway
from clarion.settings import Settings
from clarion.vault import Vault
from clarion.vocabulary import Scope

T = TypeVar("T")
Handler = Callable[..., Coroutine[Any, Any, Any]]

_PARAMETER = re.compile(r"\{(\w+)\}")
_GIVEN = ("query", "body", "bodies")


@dataclass(frozen=True)
class Caller:
    """Who is calling: one key, and with it one environment."""

    environment_id: EnvironmentId
    organization_id: OrganizationId
    key_id: ApiKeyId
    scopes: frozenset[Scope]

    @cached_property
    def rights(self) -> bytes:
        return " ".join(sorted(self.scopes)).encode()

    def may(self, scope: Scope) -> bool:
        return Scope.ALL in self.scopes or scope in self.scopes


NOBODY = Caller(EnvironmentId(bytes(16)), OrganizationId(bytes(16)), ApiKeyId(bytes(16)), frozenset())
"""Who calls an operation that is open to everyone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """What operations share, made once by the composition root."""

    settings: Settings
    clock: Clock
    vault: Vault
    names: BuiltinNames
    bus: Bus
    gateway: ProviderGateway


class RawRequest(Struct, frozen=True, kw_only=True):
    """A request as it came."""

    method: str
    path: bytes
    query: bytes
    headers: Mapping[bytes, bytes]
    """By name in lower case."""
    body: bytes


class OutsideCall(Struct, frozen=True, kw_only=True):
    """One request for an operation that talks to others: it runs outside of any unit of work, and opens its own."""

    caller: Caller
    database: Database
    services: Services
    request: RawRequest

    @property
    def environment_id(self) -> EnvironmentId:
        return self.caller.environment_id

    @property
    def now(self) -> Millis:
        return self.services.clock.now()


class Call(Struct):
    """One request as an operation sees it: the caller, the moment, and a connection inside its unit of work."""

    caller: Caller
    db: Connection
    now: Millis
    services: Services
    after_commit: list[Callable[[], None]] = []

    @property
    def environment_id(self) -> EnvironmentId:
        return self.caller.environment_id

    @property
    def organization_id(self) -> OrganizationId:
        return self.caller.organization_id


@dataclass(frozen=True, slots=True)
class Reply(Generic[T]):
    """A body with another success status than the operation's own."""

    status: int
    body: T


class RawReply(Struct, frozen=True):
    """An answer that is not JSON."""

    status: int
    content_type: bytes
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """An operation with everything that serving and describing it takes."""

    method: str
    path: str
    handler: Handler
    scope: Scope | None
    statuses: tuple[int, ...]
    scans: bool
    gathered: bool
    runs_outside: bool
    before: Handler | None
    body_limit: int
    path_kinds: tuple[tuple[str, Any], ...]
    query_shape: type[Wire] | None
    read_query: Callable[[bytes], Wire] | None
    body_shape: type[Wire] | None
    read_body: Callable[[bytes], Wire] | None
    result: Any
    tag: str

    @property
    def changes(self) -> bool:
        return self.method not in ("GET", "HEAD")

    @property
    def summary(self) -> str:
        return (inspect.getdoc(self.handler) or "").partition("\n")[0]

    def path_values(self, texts: Iterable[str]) -> list[Any]:
        """Path parameters as the handler wants them; an id that is none names nothing."""
        return [_path_value(kind, text) for (_, kind), text in zip(self.path_kinds, texts, strict=True)]


def operation(
    method: str,
    path: str,
    *,
    scope: Scope | None,
    status: int | tuple[int, ...] = 200,
    scans: bool = False,
    body_limit: int = SMALL_BODY,
) -> Callable[[Handler], Handler]:
    """Publish a function as an operation.

    Its first parameter is the Call, the next ones are those of the path in order, then `query` and `body` where
    it has them. `scans` marks reads that may touch many rows. Of several statuses the first is the usual one.

    One with `calls` and `bodies` instead takes the requests of one moment together, and returns for each its result
    or the error that refuses it; what it refuses, it has written nothing for. One with a Talk instead of the Call
    runs outside of a unit of work; its requests are not kept under idempotency keys.
    """

    def publish(handler: Handler) -> Handler:
        hints = typing.get_type_hints(handler, include_extras=True)
        names = [name for name in inspect.signature(handler).parameters if name not in _GIVEN][1:]
        query_shape, gathered = hints.get("query"), "bodies" in hints
        first = next(iter(inspect.signature(handler).parameters))
        body_shape, result = (
            (_member(hints["bodies"]), _member(_member(hints["return"])))
            if gathered
            else (hints.get("body"), _result_of(hints["return"]))
        )
        handler.__dict__["operation"] = Operation(
            method=method,
            path=path,
            handler=handler,
            scope=scope,
            statuses=status if isinstance(status, tuple) else (status,),
            scans=scans,
            gathered=gathered,
            runs_outside=hints[first] is OutsideCall,
            before=handler.__dict__.get("before"),
            body_limit=body_limit,
            path_kinds=tuple(zip(_PARAMETER.findall(path), [hints[name] for name in names], strict=True)),
            query_shape=query_shape,
            read_query=query_reader(query_shape) if query_shape else None,
            body_shape=body_shape,
            read_body=body_reader(body_shape) if body_shape else None,
            result=result,
            tag=handler.__module__.rpartition(".")[0].rpartition(".")[2].capitalize(),
        )
        return handler

    return publish


def after(call: Handler) -> Callable[[Handler], Handler]:
    """Let an operation be preceded by a talk with others, which takes the same arguments and may refuse it.

    Stands below `operation`. What the talk finds out is not handed over: the operation checks for itself.
    """

    def mark(handler: Handler) -> Handler:
        handler.__dict__["before"] = call
        return handler

    return mark


def operations_of(*modules: ModuleType) -> list[Operation]:
    """Every operation of the given modules, in the order they are written."""
    return [
        member.__dict__["operation"]
        for module in modules
        for member in vars(module).values()
        if inspect.isfunction(member) and "operation" in member.__dict__ and member.__module__ == module.__name__
    ]


def _result_of(hint: Any) -> Any:
    return _member(hint) if typing.get_origin(hint) is Reply else hint


def _member(hint: Any) -> Any:
    """What a generic or a union is of, first."""
    return typing.get_args(hint)[0]


def _path_value(kind: Any, text: str) -> Any:
    if getattr(kind, "__supertype__", None) is not bytes:
        return text
    value = find_id(text)
    if value is None:
        raise NotFound(kind.__name__.removesuffix("Id"), text)
    return value
