"""Changes: each is made in a unit of work, which also keeps its answer under the caller's idempotency key."""

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Any

from msgspec import Struct

from clarion.db.port import Connection, Database
from clarion.errors import InProgress, Invalid, RequestError, StoreUnavailable
from clarion.http import idempotency
from clarion.http.batching import Batch, Batcher
from clarion.http.errors import error_body, status_of
from clarion.http.idempotency import IdempotencyKey, StoredResponse
from clarion.http.operation import Call, Caller, Operation, RawReply, Reply, Services
from clarion.jsontext import encode_json


class Change(Struct, frozen=True, kw_only=True):
    """One request for a change, read and checked."""

    operation: Operation
    caller: Caller
    path_values: Sequence[Any]
    named: dict[str, Any]
    key: IdempotencyKey | None
    shown_path: str


class Changes:
    """Makes changes on a database; those of a gathered operation that come together share a unit of work."""

    def __init__(self, database: Database, services: Services) -> None:
        self._database = database
        self._services = services
        self._gatherings: dict[str, Batcher[Change]] = {}

    async def make(self, change: Change) -> StoredResponse:
        """Make the change and give its answer, or the one that is kept; raises what refuses it."""
        if change.operation.is_batched:
            answer: StoredResponse = await self._gathering(change.operation).submit(change)
            return answer
        if change.key is None:
            return await self._commit(partial(self._perform, change))
        try:
            return await self._commit(partial(self._perform_once, change, change.key))
        except RequestError as error:
            await self._keep_refusal(change, change.key, error)
            raise

    async def _commit(self, work: Any) -> StoredResponse:
        answer, call = await self._database.transaction(work)
        _run_after_commit([call] if call else [])
        result: StoredResponse = answer
        return result

    async def _perform(self, change: Change, db: Connection) -> tuple[StoredResponse, Call]:
        call = Call(change.caller, db, self._services.clock.now(), self._services)
        result = await change.operation.handler(call, *change.path_values, **change.named)
        return answer_of(change.operation, result), call

    async def _perform_once(
        self, change: Change, key: IdempotencyKey, db: Connection
    ) -> tuple[StoredResponse, Call | None]:
        now = self._services.clock.now()
        kept = await idempotency.find_responses(db, [key], self._services.vault, now)
        if key.digest in kept:
            return _returned(kept[key.digest]), None
        answer, call = await self._perform(change, db)
        await idempotency.insert_responses(db, [(key, answer)], self._services.vault, now)
        return answer, call

    async def _keep_refusal(self, change: Change, key: IdempotencyKey, error: RequestError) -> None:
        """A refusal changed nothing; it is kept on its own, so that the same request is refused the same way."""
        if not _is_kept(error):
            return
        now = self._services.clock.now()
        answers = [(key, self._refusal(change, error))]
        await self._database.transaction(
            lambda db: idempotency.insert_responses(db, answers, self._services.vault, now)
        )

    def _refusal(self, change: Change, error: RequestError) -> StoredResponse:
        return StoredResponse(
            status_of(error), error_body(error, path=change.shown_path, now=self._services.clock.now())
        )

    def _gathering(self, operation: Operation) -> Batcher[Change]:
        if operation.path not in self._gatherings:
            self._gatherings[operation.path] = Batcher(self._make_together, identity=_identity)
        return self._gatherings[operation.path]

    async def _make_together(self, group: Batch[Change]) -> Sequence[StoredResponse | Exception]:
        """All in one unit of work; where that fails, each in its own, so that only those at fault fail."""
        try:
            return await self._commit_together(group.take)
        except StoreUnavailable:
            raise
        except Exception:
            changes = group.take()
            if len(changes) == 1:
                raise
            return [await self._make_apart(change) for change in changes]

    async def _make_apart(self, change: Change) -> StoredResponse | Exception:
        try:
            (outcome,) = await self._commit_together(lambda: [change])
        except Exception as error:  # noqa: BLE001 - it is raised again in front of the one that waits
            return error
        return outcome

    async def _commit_together(self, take: Callable[[], Sequence[Change]]) -> Sequence[StoredResponse | Exception]:
        outcomes, calls = await self._database.transaction(partial(self._perform_together, take))
        _run_after_commit(calls)
        result: Sequence[StoredResponse | Exception] = outcomes
        return result

    async def _perform_together(
        self, take: Callable[[], Sequence[Change]], db: Connection
    ) -> tuple[list[StoredResponse | Exception], list[Call]]:
        """Whoever came until this unit of work began takes part in it."""
        changes = take()
        now, vault = self._services.clock.now(), self._services.vault
        keys = [change.key for change in changes if change.key is not None]
        kept = await idempotency.find_responses(db, keys, vault, now)
        fresh = [change for change in changes if change.key is None or change.key.digest not in kept]
        calls = [Call(change.caller, db, now, self._services) for change in fresh]
        results = await fresh[0].operation.handler(calls, [change.named["body"] for change in fresh]) if fresh else []
        made = [_made(change, result) for change, result in zip(fresh, results, strict=True)]
        shown = [(change.key, self._told(change, one)) for change, one in zip(fresh, made, strict=True) if change.key]
        await idempotency.insert_responses(db, shown, vault, now)
        left = iter(made)
        return [kept[one.key.digest] if one.key and one.key.digest in kept else next(left) for one in changes], calls

    def _told(self, change: Change, made: StoredResponse | RequestError) -> StoredResponse:
        """What the caller is told, be it an answer or a refusal."""
        return self._refusal(change, made) if isinstance(made, RequestError) else made


def answer_of(operation: Operation, result: Any) -> StoredResponse:
    if isinstance(result, RawReply):
        return StoredResponse(result.status, result.body, content_type=result.content_type)
    status, body = (result.status, result.body) if isinstance(result, Reply) else (operation.statuses[0], result)
    return StoredResponse(status, b"" if status == 204 else encode_json(body))


def _made(change: Change, result: Any) -> StoredResponse | RequestError:
    return result if isinstance(result, RequestError) else answer_of(change.operation, result)


def _returned(kept: StoredResponse | RequestError) -> StoredResponse:
    if isinstance(kept, RequestError):
        raise kept
    return kept


def _identity(change: Change) -> Hashable | None:
    return change.key.digest if change.key else None


def _is_kept(error: RequestError) -> bool:
    """What is about the key itself is not the answer to the request."""
    return not isinstance(error, InProgress) and not (
        isinstance(error, Invalid) and "idempotency-key" in error.problems
    )


def _run_after_commit(calls: Sequence[Call]) -> None:
    for call in calls:
        for callback in call.after_commit:
            callback()
