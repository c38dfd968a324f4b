"""Idempotency keys: a response is stored in the transaction of its request, and replayed for the same key.

Responses may contain secrets (credentials, a new API key), so they are encrypted.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from hashlib import blake2b
from typing import Any

import msgspec
from msgspec import Struct

from clarion.clock import DAY, Millis
from clarion.db.port import Connection, Database, Dialect, Row
from clarion.db.query import Insert, sql
from clarion.errors import InProgress, Invalid, RequestError
from clarion.http.responses import Response
from clarion.ids import EnvironmentId, id_millis, new_id
from clarion.settings.model import Settings
from clarion.vault import Vault

MIN_RETENTION = DAY
"""For how long every environment honours keys; it may set more days."""
MAX_KEY_LENGTH = 255
_RESEALED_TOGETHER = 500


class _Options(Struct, frozen=True):
    """The options of an environment that are read here; `environments` has all, and cannot be imported."""

    retention_days: dict[str, int] = {}


_OPTIONS = msgspec.json.Decoder(_Options)


class IdempotencyKey(Struct, frozen=True):
    """A key within its environment, method and path, with a fingerprint of the request."""

    text: str
    environment_id: EnvironmentId
    digest: bytes
    fingerprint: bytes


LIST_STORED = sql("""
    SELECT id, digest, fingerprint, status, body FROM idempotency_keys
    WHERE digest {any:digests} AND environment_id {any:environment_ids}
""")

# Returns those that another transaction has.
LOCK_KEYS = sql("SELECT lock FROM unnest(:locks::bigint[]) AS lock WHERE NOT pg_try_advisory_xact_lock(lock)")

# If another request has stored a response in between, that one stays.
INSERT_RESPONSES = Insert(
    "idempotency_keys",
    *("id", "environment_id", "digest", "fingerprint", "status", "body"),
    on_conflict="ON CONFLICT (digest) DO NOTHING",
    types=("uuid", "uuid", "bytea", "bytea", "smallint", "bytea"),
)
DELETE_EXPIRED = sql("""
    DELETE FROM idempotency_keys WHERE environment_id {any:environment_ids} AND digest {any:digests}
""")
LIST_OPTIONS = sql("SELECT id AS environment_id, options FROM environments WHERE id {any:environment_ids}")
LIST_SEALED = sql("SELECT digest, body FROM idempotency_keys WHERE digest > :after ORDER BY digest LIMIT :limit")
UPDATE_BODY = sql("UPDATE idempotency_keys SET body = :body WHERE digest = :digest")


def make_key(text: str, *, environment_id: EnvironmentId, method: str, path: bytes, content: bytes) -> IdempotencyKey:
    """The key of a request; `content` is everything that must be identical when the key is used again."""
    if len(text) > MAX_KEY_LENGTH:
        raise Invalid.field("idempotency-key", f"must have at most {MAX_KEY_LENGTH} characters", text)
    scope = b"\x00".join((environment_id, method.encode(), path, text.encode()))
    return IdempotencyKey(
        text=text,
        environment_id=environment_id,
        digest=blake2b(scope, digest_size=16).digest(),
        fingerprint=blake2b(content, digest_size=16).digest(),
    )


async def find_responses(
    db: Connection, keys: Sequence[IdempotencyKey], vault: Vault, now: Millis, settings: Settings
) -> dict[bytes, Response | RequestError]:
    """By digest: the stored response, or the error that refuses the request. New keys are not in the result.

    On PostgreSQL keys are locked for the transaction; a key that another process has locked is in progress.
    SQLite runs one unit of work after the other, so no key can be in progress.
    """
    if not keys:
        return {}
    answers: dict[bytes, Response | RequestError] = {}
    by_digest = {key.digest: key for key in keys}
    for digest in await _list_locked(db, by_digest):
        text = by_digest[digest].text
        answers[digest] = InProgress(f"A request with idempotency key '{text}' is being worked on; try again")
    scope = {"digests": list(by_digest), "environment_ids": list({key.environment_id for key in keys})}
    rows = await db.fetch(LIST_STORED, **scope)
    expired = await _list_expired(db, by_digest, rows, now, settings)
    for row in rows:
        digest = bytes(row["digest"])
        if digest not in expired:
            answers.setdefault(digest, _read_response(by_digest[digest], row, vault))
    if expired:
        # An expired key can be used again.
        await db.execute(DELETE_EXPIRED, environment_ids=scope["environment_ids"], digests=expired)
    return answers


async def _list_expired(
    db: Connection, keys: Mapping[bytes, IdempotencyKey], rows: Sequence[Row], now: Millis, settings: Settings
) -> list[bytes]:
    """Which stored responses are older than their environments keep them."""
    ages = {bytes(row["digest"]): now - id_millis(row["id"]) for row in rows}
    old = [digest for digest, age in ages.items() if age >= MIN_RETENTION]
    if not old:
        return []
    environment_ids = {keys[one].environment_id for one in old}
    options = await db.fetch(LIST_OPTIONS, environment_ids=list(environment_ids))
    set_days = {row["environment_id"]: _set_days(row["options"]) for row in options}
    default, (_, most) = settings.retention_days["idempotency"], settings.retention_range("idempotency")
    return [one for one in old if ages[one] >= min(set_days.get(keys[one].environment_id) or default, most) * DAY]


def _set_days(options: str | None) -> int | None:
    """How long an environment keeps responses, if it says so."""
    return None if options is None else _OPTIONS.decode(options).retention_days.get("idempotency")


async def _list_locked(db: Connection, keys: Mapping[bytes, IdempotencyKey]) -> list[bytes]:
    if db.dialect is Dialect.SQLITE:
        return []
    locks = {int.from_bytes(digest[:8], signed=True): digest for digest in keys}
    rows = await db.fetch(LOCK_KEYS, locks=list(locks))
    return [locks[row["lock"]] for row in rows]


def _read_response(key: IdempotencyKey, row: Row, vault: Vault) -> Response | RequestError:
    if row["fingerprint"] != key.fingerprint:
        return Invalid.field(
            "idempotency-key",
            "was used for another request (another body, or a key with other scopes); use a new one",
            key.text,
        )
    return Response(row["status"], vault.open_bytes(row["body"], context=key.digest), is_replayed=True)


async def insert_responses(
    db: Connection, responses: Sequence[tuple[IdempotencyKey, Response]], vault: Vault, now: Millis
) -> None:
    if responses:
        await db.insert_many(INSERT_RESPONSES, [_row(key, response, vault, now) for key, response in responses])


def _row(key: IdempotencyKey, response: Response, vault: Vault, now: Millis) -> tuple[Any, ...]:
    body = vault.seal_bytes(response.body, context=key.digest)
    return new_id(now), key.environment_id, key.digest, key.fingerprint, response.status, body


async def reseal_responses(database: Database, vault: Vault) -> int:
    """Seal all stored responses with the vault's writing key, in batches; returns how many had another key."""
    resealed, last = 0, b""
    while True:
        after, (count, last) = last, await database.transaction(partial(_reseal_batch, vault=vault, after=last))
        resealed += count
        if last == after:
            return resealed


async def _reseal_batch(db: Connection, *, vault: Vault, after: bytes) -> tuple[int, bytes]:
    rows = await db.fetch(LIST_SEALED, after=after, limit=_RESEALED_TOGETHER)
    stale = [row for row in rows if not row["body"].startswith(vault.writing_key_id.encode() + b".")]
    for row in stale:
        digest = bytes(row["digest"])
        body = vault.seal_bytes(vault.open_bytes(row["body"], context=digest), context=digest)
        await db.execute(UPDATE_BODY, digest=digest, body=body)
    return len(stale), rows[-1]["digest"] if rows else after
