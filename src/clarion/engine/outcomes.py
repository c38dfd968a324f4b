"""The possible outcomes of a step."""

from typing import Any, TypeAlias

from msgspec import Struct

from clarion.clock import Millis
from clarion.engine.records import NewMessage
from clarion.ids import NotificationId


class Done(Struct, frozen=True):
    """The step is complete, and the run goes on; `outputs` are what later steps see of it."""

    outputs: dict[str, Any] | None = None
    messages: list[NewMessage] = []


class Skipped(Struct, frozen=True):
    """A condition, a preference or a schedule skips the step; the run goes on."""


class Failed(Struct, frozen=True):
    """The step cannot be done; the run goes on unless the step says otherwise."""

    messages: list[NewMessage] = []


class Waiting(Struct, frozen=True):
    """The step comes due later."""

    until: Millis


class Sending(Struct, frozen=True):
    """A provider has to be called; the sender does that, and the run goes on afterwards."""

    messages: list[NewMessage]


class Merged(Struct, frozen=True):
    """The run joins the digest of another one, and ends here."""

    into: NotificationId


class Ended(Struct, frozen=True):
    """The rest of the run is skipped."""


StepOutcome: TypeAlias = Done | Skipped | Failed | Waiting | Sending | Merged | Ended
