"""Throttle passes: when runs of one identity passed their throttle step.

A unit of work reads the passes that it may need together, adds to them in memory and writes the new ones at its end.
"""

from collections.abc import Mapping
from hashlib import blake2b

from msgspec import Struct

from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.db.query import Insert, sql
from clarion.ids import EnvironmentId, JobId, SubscriberId


class ThrottleIdentity(Struct, frozen=True, kw_only=True):
    """Runs with the same identity share a limit."""

    step_id: bytes
    subscriber_id: SubscriberId
    key_digest: bytes

    @property
    def throttle_id(self) -> bytes:
        return blake2b(self.step_id + self.subscriber_id + self.key_digest, digest_size=16).digest()


LIST_PASSES = sql("""
    SELECT throttle_id, passed_at FROM throttle_passes
    WHERE environment_id = :environment_id AND throttle_id {any:ids} AND passed_at > :after
    ORDER BY passed_at
""")
PASSES = Insert("throttle_passes", "environment_id", "throttle_id", "passed_at", "job_id", "subscriber_id")


class ThrottlePasses:
    """The passes of one unit of work."""

    def __init__(self, db: Connection, environment_id: EnvironmentId, now: Millis) -> None:
        self._db = db
        self._environment_id = environment_id
        self._now = now
        self._passes: dict[bytes, list[Millis]] = {}
        self._new: list[tuple[bytes, Millis, JobId, SubscriberId]] = []

    async def load(self, wanted: Mapping[bytes, Millis]) -> None:
        """Read the passes of throttles, each since a moment at least."""
        missing = {one: since for one, since in wanted.items() if one not in self._passes}
        if not missing:
            return
        self._passes |= {one: [] for one in missing}
        scope = {"environment_id": self._environment_id, "after": min(missing.values())}
        for row in await self._db.fetch(LIST_PASSES, **scope, ids=list(missing)):
            self._passes[row["throttle_id"]].append(Millis(row["passed_at"]))

    async def list(self, identity: ThrottleIdentity, since: Millis) -> list[Millis]:
        """The moments of the passes since a moment at least, oldest first."""
        await self.load({identity.throttle_id: since})
        return self._passes[identity.throttle_id]

    def add(self, identity: ThrottleIdentity, job_id: JobId) -> None:
        self._passes[identity.throttle_id].append(self._now)
        self._new.append((identity.throttle_id, self._now, job_id, identity.subscriber_id))

    async def write(self) -> None:
        """Write the new passes."""
        if self._new:
            await self._db.insert_many(PASSES, [(self._environment_id, *one) for one in self._new])
