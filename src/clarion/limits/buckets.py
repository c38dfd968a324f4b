"""Token buckets: how requests take tokens from them, and the rows of those that several processes share."""

from collections.abc import Sequence
from typing import NamedTuple

from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.ids import EnvironmentId
from clarion.limits.headers import Headers, LimitTexts
from clarion.settings.rate_limits import LimitCategory

INSERT_BUCKET = sql("""
    INSERT INTO rate_limit_buckets (environment_id, category, tokens, refilled_at)
    VALUES (:environment_id, :category, :tokens, :now) ON CONFLICT (environment_id, category) DO NOTHING
""")
LOCK_BUCKET = sql("""
    SELECT tokens, refilled_at FROM rate_limit_buckets
    WHERE environment_id = :environment_id AND category = :category {for_update}
""")
UPDATE_BUCKET = sql("""
    UPDATE rate_limit_buckets SET tokens = :tokens, refilled_at = :refilled_at
    WHERE environment_id = :environment_id AND category = :category
""")


class Bucket:
    """The tokens of an environment under one limit, as they were at `refilled_at`."""

    __slots__ = ("limit", "refilled_at", "texts", "tokens")

    def __init__(self, texts: LimitTexts, tokens: float, refilled_at: Millis) -> None:
        self.texts = texts
        self.limit = texts.limit
        self.tokens = tokens
        self.refilled_at = refilled_at

    def refill(self, now: Millis) -> None:
        # Clocks are set back, and those of processes differ: time that was counted once is not counted again.
        if now > self.refilled_at:
            self.tokens = self.limit.refill(self.tokens, now - self.refilled_at)
            self.refilled_at = now


class CountedRequest(NamedTuple):
    """A request, with the buckets that have to pay for it."""

    environment_id: EnvironmentId
    buckets: Sequence[Bucket]
    cost: int
    held: int
    """What was taken for the same request before; it is given back first."""


class Admission(NamedTuple):
    """Whether a request is admitted, and what was left then in the bucket that decides about the next one."""

    texts: LimitTexts
    tokens: float
    is_admitted: bool

    def headers_for(self, cost: int) -> Headers:
        """The headers of the response; raises RateLimited if the request is refused."""
        if self.is_admitted:
            return self.texts.headers(self.tokens, cost)
        raise self.texts.refusal(self.tokens, cost)


def take_tokens(buckets: Sequence[Bucket], request: CountedRequest, now: Millis) -> Admission:
    """Take what a request costs from all its buckets, or nothing from any."""
    for bucket in buckets:
        bucket.refill(now)
        if request.held:
            bucket.tokens = min(bucket.tokens + request.held, bucket.limit.capacity)
    refusal = find_refusal(buckets, request.cost)
    if refusal is not None:
        return refusal
    for bucket in buckets:
        bucket.tokens -= request.cost
    tightest = min(buckets, key=lambda bucket: bucket.tokens)
    return Admission(tightest.texts, tightest.tokens, is_admitted=True)


def find_refusal(buckets: Sequence[Bucket], cost: int) -> Admission | None:
    for bucket in buckets:
        if bucket.tokens < bucket.limit.needed(cost):
            return Admission(bucket.texts, bucket.tokens, is_admitted=False)
    return None


BucketKey = tuple[EnvironmentId, LimitCategory]


async def take_stored_tokens(
    db: Connection, requests: Sequence[CountedRequest], now: Millis
) -> tuple[list[Admission], dict[BucketKey, Bucket]]:
    """Answer requests from the buckets that all processes share; returns these buckets too."""
    texts = {
        (request.environment_id, bucket.texts.category): bucket.texts
        for request in requests
        for bucket in request.buckets
    }
    # In one order, so that no two processes wait for each other.
    stored = {key: await _lock_bucket(db, key, texts[key], now) for key in sorted(texts)}
    answers = [take_tokens([stored[key] for key in keys_of(request)], request, now) for request in requests]
    for (environment_id, category), bucket in stored.items():
        await db.execute(
            UPDATE_BUCKET,
            environment_id=environment_id,
            category=category,
            tokens=bucket.tokens,
            refilled_at=bucket.refilled_at,
        )
    return answers, stored


def keys_of(request: CountedRequest) -> list[BucketKey]:
    return [(request.environment_id, bucket.texts.category) for bucket in request.buckets]


async def _lock_bucket(db: Connection, key: BucketKey, texts: LimitTexts, now: Millis) -> Bucket:
    environment_id, category = key
    row = await db.fetch_one(LOCK_BUCKET, environment_id=environment_id, category=category)
    if row is None:
        full = texts.limit.capacity
        await db.execute(INSERT_BUCKET, environment_id=environment_id, category=category, tokens=full, now=now)
        row = await db.fetch_one(LOCK_BUCKET, environment_id=environment_id, category=category)
    if row is None:
        # The environment is being deleted.
        return Bucket(texts, 0.0, now)
    return Bucket(texts, min(row["tokens"], texts.limit.capacity), row["refilled_at"])
