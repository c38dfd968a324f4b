"""Operations: async functions with typed input and output, and how they are reached over HTTP."""

import inspect
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from types import ModuleType
from typing import Any

from msgspec import Struct

from clarion.clock import Millis
from clarion.db.port import Connection, Database
from clarion.http.caller import Caller, SubscriberSession
from clarion.http.input.forms import FormReader, make_form_reader
from clarion.http.input.queries import make_query_reader
from clarion.http.input.unknown import Contract, InputWarning, contract_of
from clarion.http.input.validation import make_body_reader
from clarion.http.limits import SMALL_BODY
from clarion.http.preconditions import IfMatch
from clarion.http.services import Services
from clarion.http.signatures import (
    Handler,
    check_parameters,
    read_path_value,
    result_of,
    result_of_batch,
    returns_stream,
)
from clarion.http.wire import Wire
from clarion.ids import EnvironmentId, OrganizationId
from clarion.monitoring.traces.model import TraceContext
from clarion.settings.rate_limits import LimitCategory
from clarion.vocabulary import Scope

_SAFE_METHODS = ("GET", "HEAD")
_CONFIGURATION_SCOPES = frozenset(
    {Scope.WORKFLOWS_WRITE, Scope.INTEGRATIONS_WRITE, Scope.WEBHOOKS_WRITE, Scope.ENVIRONMENTS_WRITE}
)


class RawRequest(Struct, frozen=True, kw_only=True):
    """A request before decoding."""

    method: str
    path: bytes
    query: bytes
    headers: Mapping[bytes, bytes]
    """Names are in lower case."""
    body: bytes
    address: str = ""
    """Of the client, or of the proxy next to this service."""


class DetachedCall(Struct, frozen=True, kw_only=True):
    """One request for an operation that runs outside any transaction, because it waits for other servers.

    It opens its own units of work on `database`.
    """

    caller: Caller
    database: Database
    services: Services
    request: RawRequest
    request_id: str
    response_headers: list[tuple[bytes, bytes]] = []
    """More headers for the response."""
    warnings: list[InputWarning] = []
    """What the response warns of; a precheck may append more."""

    @property
    def environment_id(self) -> EnvironmentId:
        return self.caller.environment_id

    @property
    def now(self) -> Millis:
        return self.services.clock.now()


class Call(Struct):
    """One request for an operation that runs in a transaction: the caller, the time, and the connection."""

    caller: Caller
    db: Connection
    now: Millis
    services: Services
    after_commit: list[Callable[[], None]] = []
    """Called when the transaction is durable."""
    request_id: str | None = None
    """None in reads and in batched operations, which leave no entries in the audit log."""
    trace: TraceContext | None = None
    """Of the request's span; None unless it is traced."""
    warnings: list[InputWarning] = []
    """What the response warns of; the operation may append more."""

    @property
    def environment_id(self) -> EnvironmentId:
        return self.caller.environment_id

    @property
    def organization_id(self) -> OrganizationId:
        return self.caller.organization_id

    @property
    def session(self) -> SubscriberSession:
        """The session of an operation that is for subscribers."""
        return self.caller.get_session()


class Transaction(StrEnum):
    """What an operation runs in."""

    READ = "read"
    """A read of a few rows found by an index."""
    SCAN = "scan"
    """A read that may touch many rows, on one snapshot."""
    WRITE = "write"
    """A unit of work that is durable before the response is sent; the idempotency key is stored with it."""
    NONE = "none"
    """No transaction: the handler gets a DetachedCall. Idempotency keys are ignored."""


class Operation(Struct, frozen=True, kw_only=True):
    """An operation with everything that is needed to serve and to describe it."""

    method: str
    path: str
    contract: Contract
    """Says what becomes of unknown members of requests."""
    handler: Handler
    scope: Scope | None
    also: tuple[Scope, ...]
    """Further scopes that the caller needs, because the result shows their data, or it does what they allow."""
    is_for_subscribers: bool
    is_for_members: bool
    """For a member who is signed in, in no environment."""
    is_for_owners: bool
    """Whether members must be owners of the organization, and API keys need the reach of the organization."""
    statuses: tuple[int, ...]
    transaction: Transaction
    is_batched: bool
    precheck: Handler | None
    body_limit: int
    path_kinds: tuple[tuple[str, Any], ...]
    query_shape: type[Wire] | None
    read_query: Callable[[bytes, list[InputWarning]], Wire] | None
    body_shape: type[Wire] | None
    is_body_optional: bool
    read_body: Callable[[bytes, list[InputWarning]], Wire] | None
    form_shape: type[Wire] | None
    read_form: FormReader[Wire] | None
    """Of operations that take a form with files instead of JSON."""
    result: Any
    is_stream: bool
    """Whether it answers with server-sent events, whose data `result` describes."""
    tag: str
    limit: LimitCategory | None
    """The rate limit that a request counts in, together with the overall one; None: it is not counted."""
    count_items: Callable[[Any], int] | None
    """How many requests a body counts as; None: one."""
    has_etag: bool
    """Whether the result has an `etag`, which is sent as a header, too."""
    is_conditional: bool
    """Whether it takes `If-Match`."""
    refusals: tuple[int, ...]
    """Further statuses of refusals, which do not follow from the other fields."""

    @property
    def is_safe(self) -> bool:
        """Whether the method is safe in the terms of HTTP: it only reads."""
        return self.method in _SAFE_METHODS

    @property
    def takes_body(self) -> bool:
        return self.body_shape is not None or self.form_shape is not None

    @property
    def summary(self) -> str:
        return (inspect.getdoc(self.handler) or "").partition("\n")[0]

    def path_values(self, texts: Iterable[str]) -> list[Any]:
        """Path parameters in the types of the handler; a malformed id is not found."""
        return [read_path_value(kind, text) for (_, kind), text in zip(self.path_kinds, texts, strict=True)]


def operation(  # noqa: PLR0913 - the options of a route
    method: str,
    path: str,
    *,
    scope: Scope | None = None,
    also: tuple[Scope, ...] = (),
    session: bool = False,
    member: bool = False,
    public: bool = False,
    owner: bool = False,
    status: int | tuple[int, ...] = 200,
    query: type[Wire] | None = None,
    body: type[Wire] | None = None,
    body_optional: bool = False,
    form: type[Wire] | None = None,
    body_limit: int = SMALL_BODY,
    transaction: Transaction | None = None,
    batched: bool = False,
    precheck: Handler | None = None,
    limit: LimitCategory | None = None,
    items: Callable[[Any], int] | None = None,
    etag: bool = False,
    conditional: bool = False,
    foreign: bool = False,
    refusals: tuple[int, ...] = (),
) -> Callable[[Handler], Handler]:
    """Publish a function as an operation; raises TypeError if its parameters do not fit the options.

    Exactly one of these says who may call:

    - `scope`: API keys that have it, and members whose role in the environment of the request has it; those of `also`
      are needed, too. With `owner`, members must be owners, and API keys need `organization:reach` as well.
    - `session`: subscribers with the token of a session.
    - `member`: members who are signed in, in no environment, without its limits and idempotency keys.
    - `public`: everybody.

    The function takes a Call, the parameters of the path in their order, then `query` and `body` if they are declared.
    With `body_optional` an absent body is taken as `{}`. With `form` the body is a form with files, and the function
    takes `form`.

    Of several statuses the first is the default. `transaction` is READ for GET and HEAD and WRITE for other methods
    unless given; with NONE the function takes a DetachedCall instead of the Call.

    A `batched` operation takes `calls` and `bodies`, those of the requests that arrive at the same time. It returns
    for each request the result or the error that refuses it, and must write nothing for a request that it refuses.

    `precheck` runs before the transaction is opened. It takes a DetachedCall and otherwise the same parameters, but no
    `if_match`, and may refuse the request or warn. It passes nothing else on, and the data may change in between: the
    operation checks again.

    Its section of the API description has the name of the room, or what the module says with `SECTION`.

    `limit` is the rate limit that requests count in. By default, operations whose scope lets keys change workflows,
    integrations, webhooks or environments count as CONFIGURATION, and all others that need a key or a session as ALL.
    One that needs neither counts its requests itself, when it knows the environment.
    `items` returns how many requests a body counts as.

    With `etag` the result has a member of that name, which is also sent as a header. A `conditional` operation takes
    `if_match`, last: the states of the resource that the caller is willing to change.

    A `foreign` operation is called by servers of others, by rules of theirs, and reads the request itself. All others
    refuse unknown members of requests, or warn of them if they belong to the published contract
    (`http/input/unknown.py`).

    `refusals` are statuses that the description cannot know from the other options.
    """

    def publish(handler: Handler) -> Handler:
        if [scope is not None, session, member, public].count(True) != 1:
            raise TypeError(f"{handler.__qualname__}: declare exactly one of scope, session, member and public")
        contract = Contract.FOREIGN if foreign else contract_of(method, path)
        declared = transaction or (Transaction.READ if method in _SAFE_METHODS else Transaction.WRITE)
        _check_transaction(handler, method, declared)
        if batched:
            if declared is not Transaction.WRITE or "{" in path or query is not None or precheck is not None:
                raise TypeError(f"{handler.__qualname__}: a batched operation writes and takes nothing but bodies")
            path_kinds = check_parameters(handler, path, Sequence[Call], {"bodies": Sequence[body]})  # type: ignore[valid-type]
        else:
            named = {"query": query, "body": body, "form": form, "if_match": IfMatch if conditional else None}
            shapes = {name: shape for name, shape in named.items() if shape is not None}
            context = DetachedCall if declared is Transaction.NONE else Call
            path_kinds = check_parameters(handler, path, context, shapes)
            if precheck is not None:
                inputs = {name: shape for name, shape in shapes.items() if name != "if_match"}
                check_parameters(precheck, path, DetachedCall, inputs)
        handler.__dict__["operation"] = Operation(
            method=method,
            path=path,
            contract=contract,
            handler=handler,
            scope=scope,
            also=also,
            is_for_subscribers=session,
            is_for_members=member,
            is_for_owners=owner,
            statuses=status if isinstance(status, tuple) else (status,),
            transaction=declared,
            is_batched=batched,
            precheck=precheck,
            body_limit=body_limit,
            path_kinds=path_kinds,
            query_shape=query,
            read_query=make_query_reader(query, contract) if query else None,
            body_shape=body,
            is_body_optional=body_optional,
            read_body=make_body_reader(body, contract) if body else None,
            form_shape=form,
            read_form=make_form_reader(form, contract) if form else None,
            result=result_of_batch(handler) if batched else result_of(handler),
            is_stream=returns_stream(handler),
            limit=limit or _default_limit(scope, is_for_subscribers=session),
            count_items=items,
            has_etag=etag,
            is_conditional=conditional,
            refusals=refusals,
            tag=_section_of(handler),
        )
        return handler

    return publish


def _section_of(handler: Handler) -> str:
    section: str | None = getattr(sys.modules[handler.__module__], "SECTION", None)
    return section or handler.__module__.split(".")[1].capitalize()


def _default_limit(scope: Scope | None, *, is_for_subscribers: bool) -> LimitCategory | None:
    if scope in _CONFIGURATION_SCOPES:
        return LimitCategory.CONFIGURATION
    return LimitCategory.ALL if scope is not None or is_for_subscribers else None


def operations_of(*modules: ModuleType) -> list[Operation]:
    """Every operation of the given modules, in the order they are written."""
    return [
        member.__dict__["operation"]
        for module in modules
        for member in vars(module).values()
        if inspect.isfunction(member) and "operation" in member.__dict__ and member.__module__ == module.__name__
    ]


def _check_transaction(handler: Handler, method: str, transaction: Transaction) -> None:
    # The API description says by method whether idempotency keys are supported.
    is_read = transaction in (Transaction.READ, Transaction.SCAN)
    if transaction is not Transaction.NONE and is_read is not (method in _SAFE_METHODS):
        raise TypeError(f"{handler.__qualname__}: {method} cannot run in a {transaction} transaction")
