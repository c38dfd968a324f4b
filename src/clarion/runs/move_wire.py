"""Shapes of runs that go on with another version of their workflow."""

import base64
import binascii
from typing import Annotated, Self

import msgspec
from msgspec import Meta, field

from clarion.engine.moved_runs import MovedStep, MoveOutcome, MovePosition
from clarion.errors import Invalid
from clarion.http.wire import Wire
from clarion.ids import NotificationId
from clarion.vocabulary import StepType

_Status = Annotated[int, Meta(ge=0, le=100)]
_POSITION = msgspec.msgpack.Decoder(tuple[_Status, Annotated[bytes, Meta(min_length=16, max_length=16)]])

VersionNumber = Annotated[int, Meta(ge=1, le=2_000_000_000)]


class MoveIn(Wire):
    base: VersionNumber = field(name="from")
    """The number of the version that the runs go on with now."""
    to: VersionNumber
    """The number of the version that they are to go on with."""
    dry_run: bool = False
    """Whether to count only, and to change nothing."""
    after: str | None = None
    """The `next` of the call before, to go on with the rest."""

    def read_position(self) -> MovePosition | None:
        """Return where to go on; raises if that is no cursor of ours."""
        if self.after is None:
            return None
        try:
            status, run_id = _POSITION.decode(base64.b64decode(self.after, altchars=b"-_", validate=True))
        except (binascii.Error, ValueError, msgspec.DecodeError):
            raise Invalid.field("after", "must be the `next` of a call before", self.after) from None
        return MovePosition(status, NotificationId(run_id))


class MovedStepOut(Wire):
    step_id: str
    name: str
    """The name of the step."""
    type: StepType
    """The type of the step."""
    count: int
    """How many runs are at the step."""
    outcome: MoveOutcome
    """What becomes of the step."""
    next_step_id: str | None
    """The `stepId` of the step of the other version that they come to then; null if none is left."""

    @classmethod
    def of(cls, moved: MovedStep, count: int) -> Self:
        step = moved.step
        return cls(
            step_id=step.step_id,
            name=step.name,
            type=step.type,
            count=count,
            outcome=moved.outcome,
            next_step_id=None if moved.next is None else moved.next.step_id,
        )


class MovedRunsOut(Wire):
    dry_run: bool
    """Whether nothing was changed."""
    steps: list[MovedStepOut]
    """The runs by the step where they are: those that this call has moved, or all of a dry run."""
    capped: bool
    """Whether a dry run may have missed some: it looks at 10000 runs of the environment that are under way."""
    next: str | None
    """For `after` of another call that goes on with the rest; null if there is none."""


def write_position(position: MovePosition | None) -> str | None:
    """Return the cursor of a position."""
    if position is None:
        return None
    return base64.urlsafe_b64encode(msgspec.msgpack.encode((position.status, position.run_id))).decode()
