"""What a step can come to."""

from dataclasses import dataclass, field
from typing import Any, TypeAlias

from clarion.clock import Millis
from clarion.engine.records import Message
from clarion.ids import NotificationId


@dataclass(frozen=True, slots=True)
class Done:
    """The step is complete, and the run goes on; `outputs` are what later steps see of it."""

    outputs: dict[str, Any] | None = None
    messages: list[Message] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Skipped:
    """A condition or a preference says no; the run goes on."""


@dataclass(frozen=True, slots=True)
class Failed:
    """The step cannot be done; the run goes on unless the step says otherwise."""

    messages: list[Message] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Waiting:
    """The step comes due later."""

    until: Millis


@dataclass(frozen=True, slots=True)
class Sending:
    """A provider has to be called; a sender takes over and hands the run back."""

    messages: list[Message]


@dataclass(frozen=True, slots=True)
class Merged:
    """The run is told together with another one, and ends here."""

    into: NotificationId


@dataclass(frozen=True, slots=True)
class Ended:
    """The rest of the run is skipped."""


Outcome: TypeAlias = Done | Skipped | Failed | Waiting | Sending | Merged | Ended
