"""Shapes of open digests that are let go on."""

import base64
import binascii
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, UnsetType

from clarion.clock import Millis
from clarion.engine.flush import FlushPosition
from clarion.errors import Invalid
from clarion.http.wire import Wire
from clarion.ids import JobId

_POSITION = msgspec.msgpack.Decoder(tuple[int, Annotated[bytes, Meta(min_length=16, max_length=16)]])


class FlushIn(Wire):
    """The open digests that are meant: of one workflow, and narrower by the other members."""

    workflow_id: str
    """The identifier of the workflow."""
    step_id: str | None = None
    """Only those of this digest step of its current version."""
    subscriber_id: str | None = None
    """Only those of the subscriber with this `subscriberId`."""
    digest_key: Any | UnsetType = UNSET
    """Only those of this value of the step's `digestKey`; null is that of events without one."""
    after: str | None = None
    """The `next` of the call before, to go on with the rest."""

    def read_position(self) -> FlushPosition | None:
        """Return where to go on; raises if that is no cursor of ours."""
        if self.after is None:
            return None
        try:
            due_at, job_id = _POSITION.decode(base64.b64decode(self.after, altchars=b"-_", validate=True))
        except (binascii.Error, ValueError, msgspec.DecodeError):
            raise Invalid.field("after", "must be the `next` of a call before", self.after) from None
        if not 0 <= due_at < 1 << 63:
            raise Invalid.field("after", "must be the `next` of a call before", self.after)
        return FlushPosition(Millis(due_at), JobId(job_id))


class FlushedOut(Wire):
    flushed: int
    """How many digests go on now; one call lets at most 500 go on."""
    next: str | None
    """For `after` of another call that goes on with the rest; null if there is none."""

    @classmethod
    def of(cls, count: int, position: FlushPosition | None) -> "FlushedOut":
        if position is None:
            return cls(flushed=count, next=None)
        text = base64.urlsafe_b64encode(msgspec.msgpack.encode((position.due_at, position.job_id)))
        return cls(flushed=count, next=text.decode())
