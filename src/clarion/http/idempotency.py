"""Idempotency keys: an answer is stored in the transaction of its effect, and sent again for the same key.

Answers may hold secrets (credentials, a new API key), so they are sealed like credentials are.
"""

from dataclasses import dataclass
from functools import partial
from hashlib import blake2b

from clarion.clock import DAY, Millis
from clarion.db.port import Connection, Database, Dialect
from clarion.db.query import sql
from clarion.errors import InProgress, Invalid
from clarion.ids import EnvironmentId, last_id, new_id
from clarion.vault import Vault

KEPT = DAY
LONGEST = 255
_EXPIRY_BATCH = 500


@dataclass(frozen=True, slots=True)
class Answer:
    """What goes back to the caller."""

    status: int
    body: bytes
    replayed: bool = False


@dataclass(frozen=True, slots=True)
class IdempotencyKey:
    """One key in its scope (environment, method, path), and what was asked under it."""

    text: str
    environment_id: EnvironmentId
    digest: bytes
    fingerprint: bytes


FIND_ANSWER = sql("""
    SELECT fingerprint, status, body FROM idempotency_keys
    WHERE environment_id = :environment_id AND digest = :digest AND id > :oldest
""")

LOCK_KEY = sql("SELECT pg_try_advisory_xact_lock(:lock) AS locked")

# A key past its day is used again; a live one cannot be there, for `find_answer` looked.
INSERT_ANSWER = sql("""
    INSERT INTO idempotency_keys (id, environment_id, digest, fingerprint, status, body)
    VALUES (:id, :environment_id, :digest, :fingerprint, :status, :body)
    ON CONFLICT (digest) DO UPDATE
    SET id = :id, fingerprint = :fingerprint, status = :status, body = :body
    WHERE idempotency_keys.id <= :oldest
""")

DELETE_EXPIRED = sql("""
    DELETE FROM idempotency_keys WHERE id IN (
        SELECT id FROM idempotency_keys WHERE id <= :oldest ORDER BY id LIMIT :most
    )
""")
LIST_ANSWERS = sql("SELECT digest, body FROM idempotency_keys WHERE digest > :after ORDER BY digest LIMIT :most")
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


async def find_answer(db: Connection, key: IdempotencyKey, vault: Vault, now: Millis) -> Answer | None:
    """The stored answer, or None when this request is the one to do the work.

    On PostgreSQL the key is locked for the transaction: another process that holds it is still working.
    SQLite runs one unit after the other, so there is nobody else.
    """
    if db.dialect is Dialect.POSTGRES:
        row = await db.fetch_one(LOCK_KEY, lock=int.from_bytes(key.digest[:8], signed=True))
        if row is None or not row["locked"]:
            raise InProgress(f"A request with idempotency key '{key.text}' is being worked on; try again")
    row = await db.fetch_one(FIND_ANSWER, environment_id=key.environment_id, digest=key.digest, oldest=_oldest(now))
    if row is None:
        return None
    if row["fingerprint"] != key.fingerprint:
        raise Invalid.field(
            "idempotency-key",
            "was used for another request (another body, or a key with other scopes); use a new one",
            key.text,
        )
    return Answer(row["status"], vault.open_bytes(row["body"], context=key.digest), replayed=True)


async def insert_answer(db: Connection, key: IdempotencyKey, answer: Answer, vault: Vault, now: Millis) -> None:
    await db.execute(
        INSERT_ANSWER,
        id=new_id(now),
        environment_id=key.environment_id,
        digest=key.digest,
        fingerprint=key.fingerprint,
        status=answer.status,
        body=vault.seal_bytes(answer.body, context=key.digest),
        oldest=_oldest(now),
    )


async def delete_expired(database: Database, now: Millis) -> int:
    """Remove keys past their day, in batches that never hold up writers; tells how many."""
    removed = 0
    while True:
        batch = await database.transaction(
            lambda db: db.execute(DELETE_EXPIRED, oldest=_oldest(now), most=_EXPIRY_BATCH)
        )
        removed += batch
        if batch < _EXPIRY_BATCH:
            return removed


def _oldest(now: Millis) -> bytes:
    """The highest id of a key that is past its day."""
    return last_id(Millis(now - KEPT))


async def reseal_answers(database: Database, vault: Vault) -> int:
    """Seal every kept answer with the vault's writing key, in batches; tells how many were sealed with another."""
    resealed, last = 0, b""
    while True:
        after, (count, last) = last, await database.transaction(partial(_reseal_batch, vault=vault, after=last))
        resealed += count
        if last == after:
            return resealed


async def _reseal_batch(db: Connection, *, vault: Vault, after: bytes) -> tuple[int, bytes]:
    rows = await db.fetch(LIST_ANSWERS, after=after, most=_EXPIRY_BATCH)
    stale = [row for row in rows if not row["body"].startswith(vault.writing_key_id.encode() + b".")]
    for row in stale:
        digest = bytes(row["digest"])
        body = vault.seal_bytes(vault.open_bytes(row["body"], context=digest), context=digest)
        await db.execute(UPDATE_BODY, digest=digest, body=body)
    return len(stale), rows[-1]["digest"] if rows else after
