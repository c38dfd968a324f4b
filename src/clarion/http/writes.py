"""Requests that write: each runs in a unit of work, which also stores its response under the idempotency key."""

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Any

from msgspec import Struct

from clarion import batching
from clarion.db.port import Connection, Database, Work
from clarion.errors import Busy, InProgress, Invalid, RequestError, StoreUnavailable
from clarion.http import idempotency
from clarion.http.caller import Caller
from clarion.http.errors import error_body, status_of
from clarion.http.idempotency import IdempotencyKey
from clarion.http.input.unknown import InputWarning
from clarion.http.operation import Call, Operation
from clarion.http.responses import JsonResponse, RawResponse, Response
from clarion.http.services import Services
from clarion.jsontext import encode_json
from clarion.monitoring.metrics import BatchKind, Gauge
from clarion.monitoring.traces.model import TraceContext

MAX_WAITING_WRITES = 2_000
"""How many requests may wait for the store; more would only wait longer than their clients do."""


class WriteRequest(Struct, frozen=True, kw_only=True):
    """A request for an operation that writes, decoded and validated."""

    operation: Operation
    caller: Caller
    path_values: Sequence[Any]
    named: dict[str, Any]
    key: IdempotencyKey | None
    display_path: str
    request_id: bytes
    warnings: Sequence[InputWarning] = ()
    trace: TraceContext | None = None
    """Of the request's span; None unless it is traced."""


class WriteRunner:
    """Runs write requests on a database; concurrent requests for a batched operation share a unit of work."""

    def __init__(self, database: Database, services: Services, *, max_waiting: int = MAX_WAITING_WRITES) -> None:
        self._database = database
        self._services = services
        self._batchers: dict[str, batching.Batcher[WriteRequest]] = {}
        self._max_waiting = max_waiting
        self.waiting_count = 0
        """How many requests wait for the store now."""
        services.measures.watch(Gauge.WAITING_REQUESTS, lambda: self.waiting_count)

    async def run(self, request: WriteRequest) -> Response:
        """Run the request, or return the response stored under its key; raises the error that refuses it."""
        if self.waiting_count >= self._max_waiting:
            raise Busy("More requests wait for the store than it can work on; try again")
        self.waiting_count += 1
        try:
            if request.operation.is_batched:
                response: Response = await self._batcher(request.operation).submit(request)
                return response
            return await self._run_unbatched(request)
        finally:
            self.waiting_count -= 1

    async def _run_unbatched(self, request: WriteRequest) -> Response:
        if request.key is None:
            return await self._commit(partial(self._execute, request))
        try:
            return await self._commit(partial(self._execute_once, request, request.key))
        except RequestError as error:
            await self._store_refusal(request, request.key, error)
            raise

    async def _commit(self, work: Work[tuple[Response, Call | None]]) -> Response:
        response, call = await self._database.transaction(work)
        _run_after_commit([call] if call else [])
        return response

    async def _execute(self, request: WriteRequest, db: Connection) -> tuple[Response, Call]:
        call = Call(request.caller, db, self._services.clock.now(), self._services, trace=request.trace)
        call.request_id = request.request_id.decode()
        call.warnings = list(request.warnings)
        result = await request.operation.handler(call, *request.path_values, **request.named)
        return make_response(request.operation, result, call.warnings), call

    async def _execute_once(
        self, request: WriteRequest, key: IdempotencyKey, db: Connection
    ) -> tuple[Response, Call | None]:
        now = self._services.clock.now()
        stored = await idempotency.find_responses(db, [key], self._services.vault, now, self._services.settings)
        if key.digest in stored:
            return _return_or_raise(stored[key.digest]), None
        response, call = await self._execute(request, db)
        await idempotency.insert_responses(db, [(key, response)], self._services.vault, now)
        return response, call

    async def _store_refusal(self, request: WriteRequest, key: IdempotencyKey, error: RequestError) -> None:
        """Store the refusal in its own unit of work, because the one of the request was rolled back."""
        if not _is_stored(error):
            return
        now = self._services.clock.now()
        responses = [(key, self._make_refusal(request, error))]
        await self._database.transaction(
            lambda db: idempotency.insert_responses(db, responses, self._services.vault, now)
        )

    def _make_refusal(self, request: WriteRequest, error: RequestError) -> Response:
        return Response(status_of(error), error_body(error, path=request.display_path, now=self._services.clock.now()))

    def _batcher(self, operation: Operation) -> batching.Batcher[WriteRequest]:
        if operation.path not in self._batchers:
            self._batchers[operation.path] = batching.Batcher(self._run_batch, identity=_identity)
        return self._batchers[operation.path]

    async def _run_batch(self, batch: batching.Batch[WriteRequest]) -> Sequence[Response | Exception]:
        """Run a batch in one unit of work; if that fails, run each request alone, so that only the faulty ones fail."""
        try:
            return await self._commit_batch(batch.take)
        except StoreUnavailable:
            raise
        except Exception:
            requests = batch.take()
            if len(requests) == 1:
                raise
            return [await self._run_alone(request) for request in requests]

    async def _run_alone(self, request: WriteRequest) -> Response | Exception:
        try:
            (outcome,) = await self._commit_batch(lambda: [request])
        except Exception as error:  # noqa: BLE001 - the batcher raises it for the caller of this request
            return error
        return outcome

    async def _commit_batch(self, take: Callable[[], Sequence[WriteRequest]]) -> Sequence[Response | Exception]:
        outcomes, calls = await self._database.transaction(partial(self._execute_batch, take))
        self._services.measures.batches[BatchKind.REQUESTS].observe(len(outcomes))
        _run_after_commit(calls)
        return outcomes

    async def _execute_batch(
        self, take: Callable[[], Sequence[WriteRequest]], db: Connection
    ) -> tuple[Sequence[Response | Exception], list[Call]]:
        """Execute the requests of a batch; it is closed only now, so it includes what arrived while waiting."""
        requests = take()
        now, vault = self._services.clock.now(), self._services.vault
        keys = [request.key for request in requests if request.key is not None]
        stored = await idempotency.find_responses(db, keys, vault, now, self._services.settings)
        fresh = [request for request in requests if request.key is None or request.key.digest not in stored]
        calls = [
            Call(request.caller, db, now, self._services, trace=request.trace, warnings=list(request.warnings))
            for request in fresh
        ]
        results = await fresh[0].operation.handler(calls, [request.named["body"] for request in fresh]) if fresh else []
        outcomes = [
            _make_outcome(call, request, result) for call, request, result in zip(calls, fresh, results, strict=True)
        ]
        responses = [
            (request.key, self._make_refusal(request, outcome) if isinstance(outcome, RequestError) else outcome)
            for request, outcome in zip(fresh, outcomes, strict=True)
            if request.key
        ]
        await idempotency.insert_responses(db, responses, vault, now)
        remaining = iter(outcomes)
        return [
            stored[request.key.digest] if request.key and request.key.digest in stored else next(remaining)
            for request in requests
        ], calls


def make_response(operation: Operation, result: Any, warnings: Sequence[InputWarning] = ()) -> Response:
    """Encode the result of a handler."""
    if isinstance(result, RawResponse):
        return Response(result.status, result.body, content_type=result.content_type, warnings=warnings)
    status, body = (result.status, result.body) if isinstance(result, JsonResponse) else (operation.statuses[0], result)
    return Response(status, b"" if status == 204 else encode_json(body), warnings=warnings)


def _make_outcome(call: Call, request: WriteRequest, result: Any) -> Response | RequestError:
    return result if isinstance(result, RequestError) else make_response(request.operation, result, call.warnings)


def _return_or_raise(stored: Response | RequestError) -> Response:
    if isinstance(stored, RequestError):
        raise stored
    return stored


def _identity(request: WriteRequest) -> Hashable | None:
    return request.key.digest if request.key else None


def _is_stored(error: RequestError) -> bool:
    """Returns whether a refusal is stored; errors about the key itself are not."""
    return not isinstance(error, InProgress) and not (
        isinstance(error, Invalid) and "idempotency-key" in error.problems
    )


def _run_after_commit(calls: Sequence[Call]) -> None:
    for call in calls:
        for callback in call.after_commit:
            callback()
        # Most of them refer to the call, which would live until the next garbage collection.
        call.after_commit.clear()
