"""The ASGI application: routes a request, authenticates the caller, runs the operation and sends the response."""

import asyncio
import gzip
import logging
import re
import time
import uuid
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, Protocol, TypeVar, TypeVarTuple, Unpack

from msgspec import Struct
from starlette.types import Receive, Scope, Send

from clarion import errors
from clarion.db.port import Connection, Database
from clarion.http import idempotency
from clarion.http.attempts import FailedAttempts
from clarion.http.cors import INBOX_PATHS, InboxCors
from clarion.http.errors import error_body, error_headers, status_of, unexpected_body
from clarion.http.idempotency import Response
from clarion.http.limits import HeldBytes, check_nesting, check_size
from clarion.http.operation import ANONYMOUS, Call, Caller, DetachedCall, Operation, RawRequest, Services, Transaction
from clarion.http.router import Router
from clarion.http.static import HeaderList, Headers, StaticPage, accepts_gzip
from clarion.http.writes import WriteRequest, WriteRunner, make_response
from clarion.ids import id_text
from clarion.metrics.measures import Duplicate
from clarion.randomness import random_bytes
from clarion.tracing.tracer import RequestTrace, Tracer

AuthenticateSession = Callable[[str | None], Caller]
T = TypeVar("T")
Arguments = TypeVarTuple("Arguments")

_JSON = b"application/json"
_JSON_TYPES = re.compile(rb"application/(?:[\w.+-]+\+)?json\s*(?:;.*)?", re.IGNORECASE)
MIN_COMPRESSED_BYTES = 1024
_COMPRESSION_LEVEL = 6
MAX_LOOP_BYTES = 256 * 1024
"""Larger bodies are decoded, and larger responses compressed, outside the event loop."""
_THREADS = 2
_TRIGGERS = "/v1/events/"
"""The operations that start traces; others are traced if their callers are."""
_VARIES = (b"vary", b"Accept-Encoding")
_REQUEST_ID = re.compile(rb"[A-Za-z0-9_.:-]{1,128}")

log = logging.getLogger(__name__)


class Authenticate(Protocol):
    """Finds out who sent an Authorization header; `is_suspect` if many failures came from the same address."""

    async def __call__(self, header: str | None, /, *, is_suspect: bool) -> Caller: ...


class _Request(Struct, kw_only=True):
    method: str
    raw_path: bytes
    query: bytes
    headers: Headers
    request_id: bytes
    address: str
    """Of the client, or of the proxy next to this service."""
    caller: Caller | None = None
    operation: str = "unknown"
    """Its name as metrics have it: of a closed list."""
    held_bytes: int = 0
    """How much of the body is in memory."""
    trace: RequestTrace | None = None
    """None unless traces are switched on and the request is sampled."""
    route: str = ""
    """The path of the operation, for traces."""
    response_headers: HeaderList = []
    """More headers for the response, whether it is a result or an error."""

    @property
    def display_path(self) -> str:
        return (self.raw_path + (b"?" + self.query if self.query else b"")).decode("latin-1")


class Service:
    """Serves operations and static pages."""

    def __init__(
        self,
        operations: Iterable[Operation],
        *,
        database: Database,
        services: Services,
        authenticate: Authenticate,
        authenticate_session: AuthenticateSession,
        pages: Mapping[str, Callable[[], StaticPage]],
    ) -> None:
        self._router = Router(operations)
        self._database = database
        self._services = services
        self._tracer = services.tracer
        self._measures = services.measures
        self._writes = WriteRunner(database, services)
        self._authenticate = authenticate
        self._authenticate_session = authenticate_session
        self._pages = pages
        self._cors = InboxCors(services.settings.inbox_origins)
        self._held = HeldBytes()
        self._limiter = services.limiter
        self._attempts = FailedAttempts(services.clock, services.settings.failed_keys_per_minute)
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="clarion-large")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise NotImplementedError(f"{scope['type']} is not served")
        started = time.perf_counter()
        request = _make_request(scope)
        is_inbox = request.raw_path.startswith(INBOX_PATHS)
        if is_inbox and request.method == "OPTIONS":
            preflight = self._cors.preflight_headers(request.headers)
            await send({"type": "http.response.start", "status": 204, "headers": preflight})
            await send({"type": "http.response.body"})
            return
        status, headers, body = await self._respond(request, receive)
        if is_inbox:
            headers += self._cors.response_headers(request.headers)
        if len(body) >= MIN_COMPRESSED_BYTES and _VARIES not in headers:
            headers.append(_VARIES)
            if accepts_gzip(request.headers):
                headers.append((b"content-encoding", b"gzip"))
                body = _compress(body) if len(body) <= MAX_LOOP_BYTES else await self._in_thread(_compress, body)
        headers.append((b"x-request-id", request.request_id))
        if status != 304:
            headers.append((b"content-length", str(len(body)).encode()))
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})
        seconds = time.perf_counter() - started
        self._measures.operation(request.operation).note(status, seconds)
        _log_request(request, status, seconds)
        if request.trace is not None and self._tracer is not None:
            _end_trace(request, status, request.trace, self._tracer)

    async def _respond(self, request: _Request, receive: Receive) -> tuple[int, HeaderList, bytes]:
        headers = [(b"content-type", _JSON)]
        try:
            page = self._pages.get(request.raw_path.decode("latin-1")) if request.method == "GET" else None
            if page is not None:
                request.operation = "page"
                return page().respond(request.headers)
            response = await self._run_operation(request, receive)
        except (errors.RequestError, errors.StoreUnavailable) as error:
            if isinstance(error, errors.StoreUnavailable):
                log.warning("Store unavailable", extra={"error": str(error), "request_id": request.request_id.decode()})
            body = error_body(error, path=request.display_path, now=self._services.clock.now())
            # Headers of a refusal are about its own limit.
            others = [] if isinstance(error, errors.RateLimited) else request.response_headers
            return status_of(error), [*headers, *error_headers(error), *others], body
        except Exception:
            error_id = str(uuid.uuid4())
            log.exception("Request failed", extra={"error_id": error_id, "request_id": request.request_id.decode()})
            return 500, headers, unexpected_body(error_id, path=request.display_path, now=self._services.clock.now())
        finally:
            self._held.release(request.held_bytes)
        if response.is_replayed:
            self._measures.duplicates[Duplicate.IDEMPOTENCY_KEY] += 1
            headers.append((b"idempotency-replay", b"true"))
        headers[0] = (b"content-type", response.content_type)
        more = request.response_headers
        return response.status, (headers[1:] if response.status == 204 else headers) + more, response.body

    async def _run_operation(self, request: _Request, receive: Receive) -> Response:
        operation, path_texts = self._router.find(request.method, request.raw_path)
        if self._tracer is not None:
            request.route = operation.path
            request.trace = self._tracer.start_request(request.headers, can_start=operation.path.startswith(_TRIGGERS))
        request.operation = operation.handler.__name__
        caller = await self._authorize(operation, request)
        if operation.limit is not None and caller is not ANONYMOUS:
            request.response_headers = await self._limiter.admit(caller.environment_id, operation.limit)
        body = await _read_body(receive, request, operation.body_limit, self._held)
        if len(body) <= MAX_LOOP_BYTES:
            arguments = _read_arguments(operation, request, path_texts, body)
        else:
            arguments = await self._in_thread(_read_arguments, operation, request, path_texts, body)
        if operation.count_items is not None:
            await self._count_items(operation, request, caller, arguments)
        return await self._execute(operation, request, caller, body, arguments)

    async def _execute(
        self, operation: Operation, request: _Request, caller: Caller, body: bytes, arguments: "_Arguments"
    ) -> Response:
        """Run the operation in what it runs in."""
        if operation.transaction is Transaction.NONE:
            call = self._detached_call(caller, request, body)
            return make_response(operation, await operation.handler(call, *arguments.path, **arguments.named))
        if operation.precheck is not None:
            call = self._detached_call(caller, request, body)
            await operation.precheck(call, *arguments.path, **arguments.named)
        if operation.transaction is Transaction.READ:
            return await self._database.read(lambda db: self._read(operation, caller, arguments, db))
        if operation.transaction is Transaction.SCAN:
            return await self._database.scan(lambda db: self._read(operation, caller, arguments, db))
        return await self._writes.run(
            WriteRequest(
                operation=operation,
                caller=caller,
                path_values=arguments.path,
                named=arguments.named,
                key=_make_idempotency_key(request, caller, body),
                display_path=request.display_path,
                request_id=request.request_id,
                trace=None if request.trace is None else request.trace.context,
            )
        )

    async def _count_items(
        self, operation: Operation, request: _Request, caller: Caller, arguments: "_Arguments"
    ) -> None:
        """Count each item of a bulk, instead of the request."""
        if operation.limit is None or operation.count_items is None:
            return
        items = max(1, operation.count_items(arguments.named["body"]))
        request.response_headers = await self._limiter.admit(caller.environment_id, operation.limit, items, held=1)

    async def _in_thread(self, function: Callable[[Unpack[Arguments]], T], *arguments: *Arguments) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, function, *arguments)

    def _detached_call(self, caller: Caller, request: _Request, body: bytes) -> DetachedCall:
        raw = RawRequest(
            method=request.method, path=request.raw_path, query=request.query, headers=request.headers, body=body
        )
        return DetachedCall(
            caller=caller,
            database=self._database,
            services=self._services,
            request=raw,
            request_id=request.request_id.decode(),
            response_headers=request.response_headers,
        )

    async def _authorize(self, operation: Operation, request: _Request) -> Caller:
        if operation.scope is None and not operation.is_for_subscribers:
            return ANONYMOUS
        raw = request.headers.get(b"authorization")
        header = None if raw is None else raw.decode("latin-1")
        if operation.scope is None:
            caller = request.caller = self._authenticate_session(header)
            return caller
        try:
            is_suspect = self._attempts.is_suspect(request.address)
            caller = request.caller = await self._authenticate(header, is_suspect=is_suspect)
        except errors.Unauthenticated as error:
            if header is None:
                raise
            raise self._attempts.answer(request.address, error) from None
        if not caller.has_scope(operation.scope):
            raise errors.Forbidden(f"This API key lacks the scope '{operation.scope}'")
        return caller

    async def _read(self, operation: Operation, caller: Caller, arguments: "_Arguments", db: Connection) -> Response:
        call = Call(caller, db, self._services.clock.now(), self._services)
        return make_response(operation, await operation.handler(call, *arguments.path, **arguments.named))


def _end_trace(request: _Request, status: int, trace: RequestTrace, tracer: Tracer) -> None:
    """Export the span of a request; anybody can send a `traceparent`, so only known callers are traced."""
    if request.caller is not None:
        environment_id = id_text(request.caller.environment_id)
        tracer.end_request(trace, request.route, method=request.method, status=status, environment_id=environment_id)


def _compress(body: bytes) -> bytes:
    return gzip.compress(body, _COMPRESSION_LEVEL, mtime=0)


def _make_idempotency_key(request: _Request, caller: Caller, body: bytes) -> idempotency.IdempotencyKey | None:
    text = request.headers.get(b"idempotency-key", b"").decode("latin-1").strip()
    if not text:
        return None
    return idempotency.make_key(
        text,
        environment_id=caller.environment_id,
        method=request.method,
        path=request.raw_path,
        # The response may depend on the rights of the API key, so another key with other rights must not get it.
        content=b"\x00".join((caller.rights_text, request.query, body)),
    )


def _make_request(scope: Scope) -> _Request:
    headers: Headers = dict(scope["headers"])
    own_id = headers.get(b"x-request-id", b"")
    return _Request(
        method=scope["method"],
        raw_path=scope.get("raw_path") or scope["path"].encode(),
        query=scope["query_string"],
        headers=headers,
        address=client[0] if (client := scope.get("client")) else "",
        request_id=own_id if _REQUEST_ID.fullmatch(own_id) else b"req_" + random_bytes(16).hex().encode(),
    )


class _Arguments(NamedTuple):
    path: list[Any]
    named: dict[str, Any]


def _read_arguments(operation: Operation, request: _Request, path_texts: list[str], body: bytes) -> _Arguments:
    """The arguments of the handler; problems of the query and of the body are reported together."""
    named: dict[str, Any] = {}
    problems: dict[str, list[errors.Problem]] = {}
    try:
        if operation.read_query:
            named["query"] = operation.read_query(request.query)
    except errors.Invalid as error:
        problems |= error.problems
    try:
        if operation.read_body:
            named["body"] = operation.read_body(_check_body(operation, request.headers, body))
    except errors.Invalid as error:
        problems |= error.problems
    if problems:
        raise errors.Invalid(problems)
    return _Arguments(operation.path_values(path_texts), named)


def _check_body(operation: Operation, headers: Headers, body: bytes) -> bytes:
    content_type = headers.get(b"content-type")
    if not body and operation.is_body_optional:
        return b"{}"
    if not body:
        raise errors.Malformed("The body is empty; send a JSON object")
    if content_type not in (None, _JSON) and not _JSON_TYPES.fullmatch(content_type.strip()):
        raise errors.NotJson("Send the body as JSON, with the header Content-Type: application/json")
    check_nesting(body)
    return body


async def _read_body(receive: Receive, request: _Request, limit: int, held: HeldBytes) -> bytes:
    """The body, whose bytes are added to those that are held."""
    length = request.headers.get(b"content-length", b"0")
    check_size(int(length) if length.isdigit() else 0, limit)
    message = await receive()
    body: bytes = message.get("body", b"")
    _hold(request, len(body), limit, held)
    if not message.get("more_body", False):
        return body
    parts = [body]
    while message.get("more_body", False):
        message = await receive()
        parts.append(message.get("body", b""))
        _hold(request, len(parts[-1]), limit, held)
    if message["type"] == "http.disconnect":
        raise errors.Malformed("The body ended early")
    return b"".join(parts)


def _hold(request: _Request, size: int, limit: int, held: HeldBytes) -> None:
    check_size(request.held_bytes + size, limit)
    held.add(size)
    request.held_bytes += size


def _log_request(request: _Request, status: int, seconds: float) -> None:
    if not log.isEnabledFor(logging.INFO):
        return
    fields: dict[str, Any] = {
        "method": request.method,
        "path": request.raw_path.decode("latin-1"),
        "status": status,
        "ms": round(seconds * 1000, 2),
        "request_id": request.request_id.decode(),
    }
    if request.caller is not None:
        fields["environment_id"] = id_text(request.caller.environment_id)
    if request.trace is not None:
        fields["trace_id"] = request.trace.context.trace_id.hex()
    log.info("Request", extra=fields)
