"""What a database counts about itself."""

from typing import Protocol, runtime_checkable

from msgspec import Struct

from clarion.monitoring.metrics.histogram import BATCH_SIZES, COMMIT_SECONDS, Histogram


class PoolState(Struct, frozen=True, kw_only=True):
    """The connections of a process to its store at this moment."""

    in_use: int
    idle: int
    limit: int
    waiting: int
    """Units of work that have no connection yet."""


class DatabaseMeasures:
    """Counted by the thread that commits."""

    def __init__(self) -> None:
        self.commit_seconds = Histogram(COMMIT_SECONDS)
        """The COMMIT statement alone: how long the disk takes."""
        self.commit_sizes = Histogram(BATCH_SIZES)
        """Units of work that were committed together."""


@runtime_checkable
class MeasuredDatabase(Protocol):
    """A database that can be asked how busy it is."""

    @property
    def measures(self) -> DatabaseMeasures: ...

    def read_pool(self) -> PoolState:
        """How busy the connections of this process are at this moment."""
        ...
