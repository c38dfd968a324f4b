"""The ASGI application: routes a request, authenticates the caller, runs the operation and sends the response."""

import asyncio
import gzip
import logging
import time
import uuid
from collections.abc import Awaitable, Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any, TypeVar, TypeVarTuple, Unpack

from msgspec.structs import replace
from starlette.types import Receive, Scope, Send

from clarion import errors
from clarion.db.port import Connection, Database
from clarion.http import idempotency
from clarion.http.authorization import Authenticators, Authorizer
from clarion.http.caller import ANONYMOUS, Caller
from clarion.http.errors import error_body, error_headers, status_of, unexpected_body
from clarion.http.input.unknown import warning_headers
from clarion.http.limits import BodyMemory
from clarion.http.masking import CredentialMask
from clarion.http.operation import Call, DetachedCall, Operation, RawRequest, Transaction
from clarion.http.origins import INBOX_PATHS, InboxCors
from clarion.http.preconditions import conditions_of, etag_headers, read_etag
from clarion.http.requests import JSON, Arguments, Request, make_request, read_arguments, read_body
from clarion.http.responses import Response, send_response
from clarion.http.router import Router
from clarion.http.services import Services
from clarion.http.static import PROTECTION, HeaderList, Page, StaticPage, accepts_gzip
from clarion.http.streams import StreamResponse, send_stream
from clarion.http.writes import WriteRequest, WriteRunner, make_response
from clarion.ids import id_text
from clarion.monitoring.metrics import Duplicate
from clarion.monitoring.traces.tracer import RequestTrace, Tracer

T = TypeVar("T")
Values = TypeVarTuple("Values")

MIN_COMPRESSED_BYTES = 1024
_COMPRESSION_LEVEL = 6
MAX_LOOP_BYTES = 256 * 1024
"""Larger bodies are decoded, and larger responses compressed, outside the event loop."""
_THREADS = 2
_TRIGGERS = "/v1/events/"
"""The operations that start traces; others are traced if their callers are."""
_JSON_TYPE = (b"content-type", JSON)
_VARIES = (b"vary", b"Accept-Encoding")
_NOT_STORED = (b"cache-control", b"no-store")
"""For members: caches respect the Authorization header of API keys by themselves, and not cookies."""

log = logging.getLogger(__name__)


class Service:
    """Serves operations and static pages."""

    def __init__(
        self,
        operations: Iterable[Operation],
        *,
        database: Database,
        services: Services,
        authenticators: Authenticators,
        pages: Mapping[str, Page],
        find_page: Callable[[str], StaticPage | None] = lambda _: None,
    ) -> None:
        operations = list(operations)
        self._router = Router(operations)
        self._shapes = [shape for one in operations for shape in (one.result, one.body_shape) if shape is not None]
        self._database = database
        self._services = services
        self._tracer = services.tracer
        self._measures = services.measures
        self._writes = WriteRunner(database, services)
        self._pages = pages
        self._find_page = find_page
        self._cors = InboxCors(services.settings.inbox_origins)
        self._memory = BodyMemory()
        self._limiter = services.limiter
        failed_per_minute = services.settings.failed_keys_per_minute
        self._authorizer = Authorizer(authenticators, services.clock, failed_keys_per_minute=failed_per_minute)
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="clarion-large")

    @cached_property
    def _credentials(self) -> CredentialMask:
        """Made when somebody needs it, because it looks at all shapes."""
        return CredentialMask(self._shapes)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise NotImplementedError(f"{scope['type']} is not served")
        started = time.perf_counter()
        request = make_request(scope)
        is_inbox = request.raw_path.startswith(INBOX_PATHS)
        if is_inbox and request.method == "OPTIONS":
            await send_response(send, 204, self._cors.preflight_headers(request.headers), b"")
            return
        status, headers, body = await self._respond(request, receive)
        if isinstance(body, StreamResponse):
            self._measures.operation(request.operation).note(status, time.perf_counter() - started)
            await send_stream(body, [*headers, (b"x-request-id", request.request_id)], receive, send)
            _log_request(request, status, time.perf_counter() - started)
            return
        if is_inbox:
            headers += self._cors.response_headers(request.headers)
        if len(body) >= MIN_COMPRESSED_BYTES and _VARIES not in headers:
            body = await self._compress(request, headers, body)
        headers.append((b"x-request-id", request.request_id))
        if status != 304:
            headers.append((b"content-length", str(len(body)).encode()))
        await send_response(send, status, headers, body)
        seconds = time.perf_counter() - started
        self._measures.operation(request.operation).note(status, seconds)
        _log_request(request, status, seconds)
        if request.trace is not None and self._tracer is not None:
            _end_trace(request, status, request.trace, self._tracer)

    async def _compress(self, request: Request, headers: HeaderList, body: bytes) -> bytes:
        headers.append(_VARIES)
        if not accepts_gzip(request.headers):
            return body
        headers.append((b"content-encoding", b"gzip"))
        return _compress(body) if len(body) <= MAX_LOOP_BYTES else await self._in_thread(_compress, body)

    async def _respond(self, request: Request, receive: Receive) -> tuple[int, HeaderList, bytes | StreamResponse[Any]]:
        try:
            if request.method == "GET" and (page := self._look_up_page(request.raw_path)) is not None:
                request.operation = "page"
                return (page if isinstance(page, StaticPage) else await page).respond(request.headers)
            response = await self._run_operation(request, receive)
        except (errors.RequestError, errors.StoreUnavailable) as error:
            if isinstance(error, errors.StoreUnavailable):
                log.warning("Store unavailable", extra={"error": str(error), "request_id": request.request_id.decode()})
            body = error_body(error, path=request.display_path, now=self._services.clock.now())
            # Headers of a refusal are about its own limit.
            others = [] if isinstance(error, errors.RateLimited) else request.response_headers
            others = others + warning_headers(request.warnings)
            return status_of(error), [_JSON_TYPE, *PROTECTION, *error_headers(error), *others], body
        except Exception:
            error_id = str(uuid.uuid4())
            log.exception("Request failed", extra={"error_id": error_id, "request_id": request.request_id.decode()})
            body = unexpected_body(error_id, path=request.display_path, now=self._services.clock.now())
            return 500, [_JSON_TYPE, *PROTECTION], body
        finally:
            if request.held is not None:
                request.held.release()
        if isinstance(response, StreamResponse):
            return 200, request.response_headers + warning_headers(request.warnings), response
        return response.status, self._make_headers(request, response), response.body

    def _make_headers(self, request: Request, response: Response) -> HeaderList:
        """The headers of a result. JSON is no page: a browser shows it as text, so it needs no protection."""
        headers = request.response_headers
        if warnings := response.warnings or request.warnings:
            headers = headers + warning_headers(warnings)
        if response.is_replayed:
            self._measures.duplicates[Duplicate.IDEMPOTENCY_KEY] += 1
            headers = [(b"idempotency-replay", b"true"), *headers]
        if response.status == 204:
            return list(headers)
        if response.content_type == JSON:
            return [_JSON_TYPE, *headers]
        own = {name for name, _ in headers}
        return [(b"content-type", response.content_type), *headers, *(one for one in PROTECTION if one[0] not in own)]

    def _look_up_page(self, raw_path: bytes) -> StaticPage | Awaitable[StaticPage] | None:
        path = raw_path.decode("latin-1")
        make = self._pages.get(path)
        return self._find_page(path) if make is None else make()

    async def _run_operation(self, request: Request, receive: Receive) -> Response | StreamResponse[Any]:
        operation, path_texts = self._router.find(request.method, request.raw_path)
        _name_operation(request, operation, self._tracer)
        caller = await self._authorizer.authorize(operation, request)
        if operation.limit is not None and caller is not ANONYMOUS:
            request.response_headers = await self._limiter.admit(caller.environment_id, operation.limit)
        if caller.member is not None:
            request.response_headers = [*request.response_headers, _NOT_STORED]
        body, came_at_once = await read_body(receive, request, operation.body_limit, self._memory, caller)
        if not came_at_once:
            # The key may have been revoked while the rest of the body was awaited.
            caller = await self._authorizer.authorize(operation, request)
        if len(body) <= MAX_LOOP_BYTES:
            arguments = read_arguments(operation, request, path_texts, body)
        else:
            arguments = await self._in_thread(read_arguments, operation, request, path_texts, body)
        if operation.count_items is not None:
            await self._count_items(operation, request, caller, arguments)
        if operation.precheck is not None:
            inputs = {name: one for name, one in arguments.named.items() if name != "if_match"}
            await operation.precheck(self._detached_call(caller, request, body), *arguments.path, **inputs)
        response = await self._execute(operation, request, caller, body, arguments)
        if operation.has_etag and isinstance(response, Response):
            request.response_headers = request.response_headers + etag_headers(read_etag(response.body))
        return response if caller.sees_channel_credentials else await self._mask(response)

    async def _mask(self, response: Response | StreamResponse[Any]) -> Response | StreamResponse[Any]:
        """Mask the credentials of people; events of streams have none, which a test checks."""
        if isinstance(response, StreamResponse) or not self._credentials.applies(response):
            return response
        if len(response.body) <= MAX_LOOP_BYTES:
            return self._credentials.mask(response)
        return await self._in_thread(self._credentials.mask, response)

    def _execute(
        self, operation: Operation, request: Request, caller: Caller, body: bytes, arguments: Arguments
    ) -> Awaitable[Response | StreamResponse[Any]]:
        """Run the operation in what it runs in. It is no coroutine, because every trigger passes through it."""
        match operation.transaction:
            case Transaction.NONE:
                return self._run_detached(operation, request, caller, body, arguments)
            case Transaction.READ:
                return self._database.read(lambda db: self._read(operation, caller, arguments, db))
            case Transaction.SCAN:
                return self._database.scan(lambda db: self._read(operation, caller, arguments, db))
        return self._writes.run(
            WriteRequest(
                operation=operation,
                caller=caller,
                path_values=arguments.path,
                named=arguments.named,
                key=None if operation.is_for_members else _make_idempotency_key(request, caller, body),
                display_path=request.display_path,
                request_id=request.request_id,
                warnings=request.warnings,
                trace=None if request.trace is None else request.trace.context,
            )
        )

    async def _run_detached(
        self, operation: Operation, request: Request, caller: Caller, body: bytes, arguments: Arguments
    ) -> Response | StreamResponse[Any]:
        call = self._detached_call(caller, request, body)
        result = await operation.handler(call, *arguments.path, **arguments.named)
        if isinstance(result, StreamResponse):
            return replace(result, check=lambda: self._authorizer.authorize(operation, request))
        return make_response(operation, result)

    async def _count_items(self, operation: Operation, request: Request, caller: Caller, arguments: Arguments) -> None:
        """Count each item of a bulk, instead of the request."""
        if operation.limit is None or operation.count_items is None:
            return
        items = max(1, operation.count_items(arguments.named["body"]))
        request.response_headers = await self._limiter.admit(caller.environment_id, operation.limit, items, held=1)

    async def _in_thread(self, function: Callable[[Unpack[Values]], T], *values: *Values) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, function, *values)

    def _detached_call(self, caller: Caller, request: Request, body: bytes) -> DetachedCall:
        raw = RawRequest(
            method=request.method,
            path=request.raw_path,
            query=request.query,
            headers=request.headers,
            body=body,
            address=request.address,
        )
        return DetachedCall(
            caller=caller,
            database=self._database,
            services=self._services,
            request=raw,
            request_id=request.request_id.decode(),
            response_headers=request.response_headers,
            warnings=request.warnings,
        )

    async def _read(self, operation: Operation, caller: Caller, arguments: Arguments, db: Connection) -> Response:
        call = Call(caller, db, self._services.clock.now(), self._services)
        return make_response(operation, await operation.handler(call, *arguments.path, **arguments.named))


def _name_operation(request: Request, operation: Operation, tracer: Tracer | None) -> None:
    """Say what is called, for metrics and traces."""
    request.operation = operation.handler.__name__
    if tracer is not None:
        request.route = operation.path
        request.trace = tracer.start_request(request.headers, can_start=operation.path.startswith(_TRIGGERS))


def _end_trace(request: Request, status: int, trace: RequestTrace, tracer: Tracer) -> None:
    """Export the span of a request; anybody can send a `traceparent`, so only known callers are traced."""
    if request.caller is not None:
        environment_id = id_text(request.caller.environment_id)
        tracer.end_request(trace, request.route, method=request.method, status=status, environment_id=environment_id)


def _compress(body: bytes) -> bytes:
    return gzip.compress(body, _COMPRESSION_LEVEL, mtime=0)


def _make_idempotency_key(request: Request, caller: Caller, body: bytes) -> idempotency.IdempotencyKey | None:
    text = request.headers.get(b"idempotency-key", b"").decode("latin-1").strip()
    if not text:
        return None
    return idempotency.make_key(
        text,
        environment_id=caller.environment_id,
        method=request.method,
        path=request.raw_path,
        # The response may depend on the rights of the API key, so another key with other rights must not get it.
        content=b"\x00".join((caller.rights_text, request.query, *conditions_of(request.headers), body)),
    )


def _log_request(request: Request, status: int, seconds: float) -> None:
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
        if request.caller.member is not None:
            fields["member_id"] = id_text(request.caller.member.id)
    if request.trace is not None:
        fields["trace_id"] = request.trace.context.trace_id.hex()
    log.info("Request", extra=fields)
