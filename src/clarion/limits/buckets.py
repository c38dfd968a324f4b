"""The token buckets that all processes share: a process takes tokens for many requests with one unit of work."""

from msgspec import Struct

from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.ids import EnvironmentId
from clarion.settings.rate_limits import LimitCategory, RateLimit

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


class PortionRequest(Struct, frozen=True, kw_only=True):
    """How many tokens a process wants: enough for a request of `cost`, and up to `wanted` for those that follow."""

    environment_id: EnvironmentId
    category: LimitCategory
    limit: RateLimit
    cost: int
    wanted: float
    returned: float
    """What it has left of its last portion."""
    now: Millis


class Portion(Struct, frozen=True):
    """Tokens of one process, and what is left for all."""

    tokens: float
    left: float


async def take_portion(db: Connection, request: PortionRequest) -> Portion:
    """Take a portion from the bucket of the environment; an empty one if it cannot pay."""
    scope = {"environment_id": request.environment_id, "category": request.category}
    row = await db.fetch_one(LOCK_BUCKET, **scope)
    if row is None:
        await db.execute(INSERT_BUCKET, **scope, tokens=request.limit.capacity, now=request.now)
        row = await db.fetch_one(LOCK_BUCKET, **scope)
    if row is None:
        # The environment is being deleted.
        return Portion(0.0, 0.0)
    refilled_at = row["refilled_at"]
    portion = decide_portion(request, row["tokens"], request.now - refilled_at)
    # Clocks of processes differ: time that one of them has counted is not counted again.
    await db.execute(UPDATE_BUCKET, **scope, tokens=portion.left, refilled_at=max(refilled_at, request.now))
    return portion


def decide_portion(request: PortionRequest, tokens: float, elapsed: int) -> Portion:
    """Divide the tokens of a bucket, which had `tokens` some milliseconds ago."""
    available = request.limit.refill(tokens + request.returned, elapsed)
    if available < request.limit.needed(request.cost):
        return Portion(0.0, available)
    granted = max(float(request.cost), min(request.wanted, available))
    return Portion(granted, available - granted)
