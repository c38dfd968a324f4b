"""What the controls of steps are made of: numbers, lengths of time, paths, answers, pairs of names and values."""

from enum import StrEnum
from typing import Annotated, Any

from msgspec import Meta

from clarion.http.wire import Wire
from clarion.times import Unit

Amount = Annotated[float, Meta(gt=0, le=1_000_000_000)]
"""Of a unit of time; 0.5 hours are 30 minutes."""
Count = Annotated[int, Meta(ge=1, le=1_000_000_000)]
ItemLimit = Annotated[int, Meta(ge=2, le=10_000)]
"""Of events in a digest; one event is no digest."""
PathName = Annotated[str, Meta(min_length=1, max_length=64, pattern=r"^[^{}/]+$")]
"""Of a path of a branch: in paths of steps, it stands between slashes."""
ChoiceValue = Annotated[str, Meta(min_length=1, max_length=64, pattern=r"^[A-Za-z][A-Za-z0-9_-]*$")]
"""Of a choice: it is a name in templates."""
MAX_RETAINED = 500
"""So many events of a digest templates see at most."""


class RetainOrder(StrEnum):
    ASC = "asc"
    DESC = "desc"


class LookBackWindow(Wire):
    amount: Amount
    unit: Unit


class SlideLimit(Wire):
    """How long after its first event the window of a digest closes at the latest, however many follow."""

    amount: Amount
    unit: Unit


class RetainedEvents(Wire):
    """Which events of a digest templates see: the first so many in an order; all are counted."""

    by: str | None = None
    order: RetainOrder | None = None
    count: Annotated[int, Meta(ge=1, le=MAX_RETAINED)] | None = None


class BranchPath(Wire):
    """A way on from a branch. Its steps are kept in the list of the version, and not here (`tree`)."""

    name: PathName
    condition: dict[str, Any] | None = None
    weight: Annotated[int, Meta(ge=1, le=1_000)] | None = None
    steps: list[dict[str, Any]] | None = None


class OtherPath(Wire):
    """The way on where no condition holds."""

    steps: list[dict[str, Any]] | None = None


class OnTimeout(StrEnum):
    """What becomes of a run whose event, or answer, did not come in time."""

    CONTINUE = "continue"
    EXIT = "exit"


class EventPair(Wire):
    """A value that the data of an event must have."""

    path: Annotated[str, Meta(min_length=1, max_length=255)]
    value: str | int | float | bool | None = None


class Timeout(Wire):
    amount: Amount
    unit: Unit


class AskChoice(Wire):
    """An answer that may be given; its label is a template."""

    value: ChoiceValue
    label: str | None = None


class Escalation(Wire):
    """Who else is asked if nobody has answered for a while: by another workflow, once for each of them."""

    after: Timeout | None = None
    to: str | list[str] | None = None
    workflow_id: str | None = None
    payload: dict[str, Any] | None = None


class KeyValue(Wire):
    """A header, or a member of a body."""

    key: str
    value: str = ""
