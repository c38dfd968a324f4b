"""Schedules as records, and their limits."""

from enum import StrEnum
from typing import Any, Final

from msgspec import Struct

from clarion.clock import HOUR, MINUTE, Millis, iso_text
from clarion.contexts.model import Contexts
from clarion.ids import EnvironmentId, ScheduleId, ScheduleKey, TransactionKey, id_text

MAX_SCHEDULES: Final = 500
"""Of an environment."""
MAX_CATCH_UP: Final = 100
"""How many moments that passed during a downtime are made up for, in all."""
MAX_CATCH_UP_OF_ZONE: Final = 10
"""The same of a schedule in the zones of people, for each zone."""
MIN_SPACING_OF_PERSON: Final = Millis(3 * HOUR)
"""Between the moments of a schedule in the zones of people, which is for times of day."""
MAX_KEPT_RUNS: Final = 200
"""Of a schedule."""
SHOWN_MOMENTS: Final = 10
LATE_AFTER: Final = Millis(10 * MINUTE)
"""A moment that is longer past than this was missed."""
OF_PERSON: Final = "subscriber"
"""In place of a time zone: that of each person."""


class CatchUp(StrEnum):
    """What is done about moments that were missed by more than ten minutes, such as during a downtime."""

    ONE = "one"
    """The last of them is made up for, unless the schedule is due again."""
    ALL = "all"
    """All are made up for, the last hundred at most."""
    NONE = "none"
    """They are left out."""


class ScheduleStatus(StrEnum):
    """Whether a schedule goes on."""

    ACTIVE = "active"
    """It triggers at its next moment."""
    PAUSED = "paused"
    """It does nothing until it is resumed."""
    ENDED = "ended"
    """It has no moment left."""


class Timing(Struct, frozen=True, kw_only=True):
    """When a schedule triggers."""

    cron: str | None
    rrule: str | None
    timezone: str
    """Its time zone, or `OF_PERSON`."""
    fallback_timezone: str
    """Of people without a time zone."""
    starts_at: Millis | None
    ends_at: Millis | None
    """The last moment that is possible."""
    anchor: Millis
    """What a recurrence rule counts from: its start, or when the rule was set."""

    @property
    def is_of_person(self) -> bool:
        return self.timezone == OF_PERSON

    @property
    def shown_timezone(self) -> str:
        """The one in which moments are shown."""
        return self.fallback_timezone if self.is_of_person else self.timezone


class TriggerSchedule(Struct, frozen=True, kw_only=True):
    environment_id: EnvironmentId
    id: ScheduleId
    key: ScheduleKey
    name: str
    workflow: str
    """As the caller names it: its key or its id."""
    recipients: list[Any]
    """As a trigger's `to`; empty for everyone."""
    is_for_everyone: bool
    timing: Timing
    payload: dict[str, Any]
    overrides: dict[str, Any] | None
    contexts: Contexts | None
    catch_up: CatchUp
    paused: bool
    done_until: Millis
    """Up to here, all moments are dealt with."""
    next_at: Millis | None
    """When to look at it next: not later than its next moment. None: never."""
    created_at: Millis
    updated_at: Millis

    @property
    def status(self) -> ScheduleStatus:
        if self.paused:
            return ScheduleStatus.PAUSED
        return ScheduleStatus.ENDED if self.next_at is None else ScheduleStatus.ACTIVE

    @property
    def names_nobody(self) -> bool:
        """Whether everybody whom it named was erased."""
        return not self.recipients and not self.is_for_everyone

    def transaction_of(self, moment: Millis, zone: str) -> TransactionKey:
        """The transaction of one moment in one zone: always the same, so that it is triggered once."""
        return TransactionKey(
            "_".join(filter(None, ("schedule", id_text(self.id), iso_text(moment), zone.replace("/", "."))))
        )


class ScheduleRun(Struct, frozen=True, kw_only=True):
    """What a schedule did at one of its moments."""

    environment_id: EnvironmentId
    schedule_id: ScheduleId
    moment: Millis
    timezone: str
    """Of the people whom it was for; empty: all, or those without one."""
    transaction_key: TransactionKey | None
    """None: nothing was triggered."""
    trouble: str | None
    """Why not, or what went wrong beside."""
    at: Millis
    """When it was done."""
