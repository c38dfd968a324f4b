"""Idempotency keys: an answer is stored in the transaction of its effect, and sent again for the same key.

Answers may hold secrets (credentials, a new API key), so they are sealed like credentials are.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from hashlib import blake2b
from typing import Any

from msgspec import Struct

from clarion.clock import DAY, Millis
from clarion.db.port import Connection, Database, Dialect, Row
from clarion.db.query import Insert, sql
from clarion.errors import InProgress, Invalid, RequestError
from clarion.ids import EnvironmentId, last_id, new_id
from clarion.vault import Vault

RETENTION = DAY
LONGEST = 255
_EXPIRY_BATCH = 500


class StoredResponse(Struct, frozen=True):
    """What goes back to the caller."""

    status: int
    body: bytes
    replayed: bool = False
    content_type: bytes = b"application/json"


class IdempotencyKey(Struct, frozen=True):
    """One key in its scope (environment, method, path), and what was asked under it."""

    text: str
    environment_id: EnvironmentId
    digest: bytes
    fingerprint: bytes


LIST_STORED = sql("""
    SELECT id, digest, fingerprint, status, body FROM idempotency_keys
    WHERE digest {any:digests} AND environment_id {any:environment_ids}
""")

LOCK_KEYS = sql("SELECT lock, pg_try_advisory_xact_lock(lock) AS locked FROM unnest(:locks::bigint[]) AS lock")

# One that is there already was kept by another request in between, and stays.
ANSWERS = Insert(
    "idempotency_keys",
    *("id", "environment_id", "digest", "fingerprint", "status", "body"),
    otherwise="ON CONFLICT (digest) DO NOTHING",
)
FORGET_KEYS = sql("""
    DELETE FROM idempotency_keys WHERE environment_id {any:environment_ids} AND digest {any:digests} AND id <= :oldest
""")
DELETE_EXPIRED = sql("""
    DELETE FROM idempotency_keys WHERE id IN (
        SELECT id FROM idempotency_keys WHERE id <= :oldest ORDER BY id LIMIT :limit
    )
""")
LIST_ANSWERS = sql("SELECT digest, body FROM idempotency_keys WHERE digest > :after ORDER BY digest LIMIT :limit")
UPDATE_BODY = sql("UPDATE idempotency_keys SET body = :body WHERE digest = :digest")


def make_key(text: str, *, environment_id: EnvironmentId, method: str, path: bytes, content: bytes) -> IdempotencyKey:
    """The key of one request; `content` is everything that must be the same when it is sent again."""
    if len(text) > LONGEST:
        raise Invalid.field("idempotency-key", f"must have at most {LONGEST} characters", text)
    scope = b"\x00".join((environment_id, method.encode(), path, text.encode()))
    return IdempotencyKey(
        text=text,
        environment_id=environment_id,
        digest=blake2b(scope, digest_size=16).digest(),
        fingerprint=blake2b(content, digest_size=16).digest(),
    )


async def find_responses(
    db: Connection, keys: Sequence[IdempotencyKey], vault: Vault, now: Millis
) -> dict[bytes, StoredResponse | RequestError]:
    """By digest: the kept answer, or what refuses the request; a key that is not there is for its caller to work on.

    On PostgreSQL keys are locked for the transaction: another process that holds one is still working.
    SQLite runs one unit after the other, so there is nobody else.
    """
    if not keys:
        return {}
    found: dict[bytes, StoredResponse | RequestError] = {}
    asked = {key.digest: key for key in keys}
    for digest in await _list_busy(db, asked):
        text = asked[digest].text
        found[digest] = InProgress(f"A request with idempotency key '{text}' is being worked on; try again")
    scope = {"digests": list(asked), "environment_ids": list({key.environment_id for key in keys})}
    oldest = _oldest(now)
    rows = await db.fetch(LIST_STORED, **scope)
    for row in rows:
        if row["id"] > oldest:
            digest = bytes(row["digest"])
            found.setdefault(digest, _kept_answer(asked[digest], row, vault))
    if any(row["id"] <= oldest for row in rows):
        # A key past its day is used again.
        await db.execute(FORGET_KEYS, **scope, oldest=oldest)
    return found


async def _list_busy(db: Connection, asked: Mapping[bytes, IdempotencyKey]) -> list[bytes]:
    if db.dialect is Dialect.SQLITE:
        return []
    locks = {int.from_bytes(digest[:8], signed=True): digest for digest in asked}
    rows = await db.fetch(LOCK_KEYS, locks=list(locks))
    return [locks[row["lock"]] for row in rows if not row["locked"]]


def _kept_answer(key: IdempotencyKey, row: Row, vault: Vault) -> StoredResponse | RequestError:
    if row["fingerprint"] != key.fingerprint:
        return Invalid.field(
            "idempotency-key",
            "was used for another request (another body, or a key with other scopes); use a new one",
            key.text,
        )
    return StoredResponse(row["status"], vault.open_bytes(row["body"], context=key.digest), replayed=True)


async def insert_responses(
    db: Connection, answers: Sequence[tuple[IdempotencyKey, StoredResponse]], vault: Vault, now: Millis
) -> None:
    if answers:
        await db.insert_many(ANSWERS, [_row(key, answer, vault, now) for key, answer in answers])


def _row(key: IdempotencyKey, answer: StoredResponse, vault: Vault, now: Millis) -> tuple[Any, ...]:
    body = vault.seal_bytes(answer.body, context=key.digest)
    return new_id(now), key.environment_id, key.digest, key.fingerprint, answer.status, body


async def delete_expired(database: Database, now: Millis) -> int:
    """Remove keys past their day, in batches that never hold up writers; tells how many."""
    removed = 0
    while True:
        batch = await database.transaction(
            lambda db: db.execute(DELETE_EXPIRED, oldest=_oldest(now), limit=_EXPIRY_BATCH)
        )
        removed += batch
        if batch < _EXPIRY_BATCH:
            return removed


def _oldest(now: Millis) -> bytes:
    """The highest id of a key that is past its day."""
    return last_id(Millis(now - RETENTION))


async def reseal_responses(database: Database, vault: Vault) -> int:
    """Seal every kept answer with the vault's writing key, in batches; tells how many were sealed with another."""
    resealed, last = 0, b""
    while True:
        after, (count, last) = last, await database.transaction(partial(_reseal_batch, vault=vault, after=last))
        resealed += count
        if last == after:
            return resealed


async def _reseal_batch(db: Connection, *, vault: Vault, after: bytes) -> tuple[int, bytes]:
    rows = await db.fetch(LIST_ANSWERS, after=after, limit=_EXPIRY_BATCH)
    stale = [row for row in rows if not row["body"].startswith(vault.writing_key_id.encode() + b".")]
    for row in stale:
        digest = bytes(row["digest"])
        body = vault.seal_bytes(vault.open_bytes(row["body"], context=digest), context=digest)
        await db.execute(UPDATE_BODY, digest=digest, body=body)
    return len(stale), rows[-1]["digest"] if rows else after
