"""What a walk over old rows is given, and what it returns."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct

from clarion.clock import DAY, Millis
from clarion.db.port import Connection, Row
from clarion.db.query import Query
from clarion.environments.options import DataKind
from clarion.ids import EnvironmentId, SubscriberId, last_id
from clarion.retention.periods import RetentionDays

ALL_ENVIRONMENTS = EnvironmentId(bytes(16))
"""The scope of tables that have the rows of all environments in one order."""
FIRST = bytes(16)
LAST = b"\xff" * 16


class WalkScope(Struct, frozen=True, kw_only=True):
    """An environment, the moment, and how long data is kept."""

    environment_id: EnvironmentId
    now: Millis
    days: RetentionDays
    by_environment: Mapping[EnvironmentId, RetentionDays]
    """Of all environments, for tables that have their rows in one order; `days` are those of the installation then."""

    def horizon(self, *kinds: DataKind) -> Millis:
        """Data from before this moment is old; the earliest moment of several kinds."""
        return Millis(max(self.now - max(self.days[kind] for kind in kinds) * DAY, 0))

    def oldest_id(self, *kinds: DataKind) -> bytes:
        """The highest id of old data."""
        return last_id(self.horizon(*kinds))

    def days_in(self, environment_id: EnvironmentId, kind: DataKind) -> int:
        """How long an environment keeps data of a kind; rows of environments that are gone follow the installation."""
        return self.by_environment.get(environment_id, self.days)[kind]


class WalkPage(Struct, frozen=True, kw_only=True):
    """The next rows of a walk."""

    rows: Sequence[Row]
    """Those that can be deleted."""
    last: bytes
    """How far the walk has come with this page."""
    is_last: bool


class Deleted(Struct, frozen=True):
    """What a unit of work deleted."""

    count: int
    unread_of: Sequence[SubscriberId] = ()
    """Whose inboxes have fewer unread messages now."""


Choose: TypeAlias = Callable[[Connection, WalkScope, bytes, int], Awaitable[WalkPage]]
"""Reads up to so many rows behind a position, and returns those of them that nothing needs."""
Delete: TypeAlias = Callable[[Connection, WalkScope, Sequence[Row]], Awaitable[Deleted]]
"""Deletes chosen rows, except those that are needed by now, and what belongs to them."""


class Walk(Struct, frozen=True, kw_only=True):
    """The rows of one table in the order of a key."""

    name: str
    """Under which its position is stored."""
    kind: DataKind
    horizon_of: tuple[DataKind, ...]
    """The kinds of data whose longest retention the rows are kept for."""
    choose: Choose
    delete: Delete
    due: Query | None = None
    """Lists the environments that have old rows behind the position; None for a walk over all environments."""
    page_size: int = 500
    sweeps: bool = True
    """Whether rows that were needed are looked at again, from the first one, once a day."""


def page_of(rows: Sequence[Row], unneeded: Sequence[Row], limit: int, *, end: bytes) -> WalkPage:
    """The page of a walk over ids; `end` is how far a walk has come that found no more rows."""
    is_last = len(rows) < limit
    return WalkPage(rows=unneeded, last=end if is_last else rows[-1]["id"], is_last=is_last)
