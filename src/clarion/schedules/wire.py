"""Shapes of schedules."""

from typing import Annotated, Any, Literal, Self

from msgspec import UNSET, Meta, UnsetType, field

from clarion.clock import Millis, iso_text
from clarion.contexts.model import Contexts
from clarion.contexts.wire import ContextsIn
from clarion.http.pages import CursorQuery
from clarion.http.wire import (
    DateTimeText,
    MomentText,
    SubscriberKeyText,
    Timezone,
    Wire,
    given,
    one_of,
)
from clarion.ids import id_text
from clarion.schedules.model import OF_PERSON, CatchUp, ScheduleRun, ScheduleStatus, TriggerSchedule
from clarion.triggers.model import MAX_RECIPIENTS
from clarion.triggers.wire import SegmentRecipientIn, TopicRecipientIn

ScheduleName = Annotated[str, Meta(min_length=1, max_length=255)]
WorkflowName = Annotated[str, Meta(min_length=1, max_length=512)]
RuleText = Annotated[str, Meta(max_length=500)]


class ScheduleKeyText(SubscriberKeyText):
    __slots__ = ()
    EXAMPLE = "weekly-report"


class ScheduleTimezone(Timezone):
    __slots__ = ()
    RULE = "must be an IANA time zone such as Europe/Athens, or 'subscriber' for that of each person"
    EXAMPLE = "Europe/London"

    @classmethod
    def accepts(cls, text: str) -> bool:
        return text == OF_PERSON or Timezone.accepts(text)


class EveryoneIn(Wire):
    type: Annotated[Any, one_of(Literal["Everyone"])]
    """Always `Everyone`: all people of the environment."""


_Recipient = Annotated[Any, one_of(SubscriberKeyText, TopicRecipientIn, SegmentRecipientIn)]
_Recipients = Annotated[list[_Recipient], Meta(min_length=1, max_length=MAX_RECIPIENTS)]
ScheduleRecipientsIn = Annotated[
    Any, one_of(SubscriberKeyText, TopicRecipientIn, SegmentRecipientIn, EveryoneIn, _Recipients)
]
"""Checked by `read_to`."""


class ScheduleIn(Wire):
    """Exactly one of `cron` and `rrule` says when."""

    identifier: ScheduleKeyText
    """Your own id of the schedule."""
    name: ScheduleName
    """What people call the schedule."""
    workflow_id: WorkflowName
    """The identifier of the workflow to run; its `_id` works too."""
    to: ScheduleRecipientsIn
    """Who is notified: a `subscriberId`, a topic, a segment, an array of these, or `{"type": "Everyone"}`.

    Segments need a key with the scope `segments:read`.
    """
    cron: RuleText | UnsetType | None = UNSET
    """Five fields: minute, hour, day, month, weekday."""
    rrule: RuleText | UnsetType | None = UNSET
    """A recurrence rule of RFC 5545, such as `FREQ=MONTHLY;BYDAY=-1FR;BYHOUR=9;BYMINUTE=0`."""
    timezone: ScheduleTimezone | UnsetType | None = UNSET
    """In which zone the rule holds, or `subscriber`: that of each person. That of the environment if absent."""
    fallback_timezone: Timezone | UnsetType | None = UNSET
    """With `subscriber`: of people who have no zone. That of the environment if absent."""
    from_: MomentText | UnsetType | None = field(default=UNSET, name="from")
    """The first moment that is possible. With `subscriber`: as clocks of the fallback zone show it, in each zone."""
    until: MomentText | UnsetType | None = UNSET
    """The last moment that is possible; in zones as `from`. Never ends if absent."""
    payload: dict[str, Any] | UnsetType | None = UNSET
    """The payload of each trigger, without files."""
    overrides: dict[str, Any] | UnsetType | None = UNSET
    context: ContextsIn | UnsetType | None = UNSET
    """Contexts of the messages; needs a key with the scope `contexts:write`."""
    catch_up: CatchUp | UnsetType = UNSET
    """What is done about moments that were missed by more than ten minutes. `one` if absent."""
    paused: bool | UnsetType = UNSET
    """Whether it does nothing for now. Moments that pass meanwhile are not made up for."""


class SchedulePatch(Wire):
    """Omitted stays as it is, null clears. A `cron` takes the place of an `rrule`, and the other way round."""

    name: ScheduleName | UnsetType = UNSET
    """What people call the schedule."""
    workflow_id: WorkflowName | UnsetType = UNSET
    """The identifier of the workflow to run; its `_id` works too."""
    to: ScheduleRecipientsIn = UNSET
    """Who is notified, instead of those before."""
    cron: RuleText | UnsetType = UNSET
    """Five fields: minute, hour, day, month, weekday."""
    rrule: RuleText | UnsetType = UNSET
    """A recurrence rule of RFC 5545."""
    timezone: ScheduleTimezone | UnsetType | None = UNSET
    """In which zone the rule holds, or `subscriber`; null: that of the environment."""
    fallback_timezone: Timezone | UnsetType | None = UNSET
    """With `subscriber`: of people who have no zone; null: that of the environment."""
    from_: MomentText | UnsetType | None = field(default=UNSET, name="from")
    """The first moment that is possible."""
    until: MomentText | UnsetType | None = UNSET
    """The last moment that is possible."""
    payload: dict[str, Any] | UnsetType | None = UNSET
    """The payload of each trigger, without files."""
    overrides: dict[str, Any] | UnsetType | None = UNSET
    context: ContextsIn | UnsetType | None = UNSET
    """Contexts of the messages; needs a key with the scope `contexts:write`."""
    catch_up: CatchUp | UnsetType = UNSET
    """What is done about moments that were missed by more than ten minutes."""
    paused: bool | UnsetType = UNSET
    """Whether it does nothing for now. Moments that pass meanwhile are not made up for."""


class ScheduleQuery(CursorQuery):
    search: str | None = None
    """Only schedules with this text in their identifier or name, in any case."""


class ScheduleMomentOut(Wire):
    at: DateTimeText
    """With the time zones of people: when those of the fallback zone are notified."""
    local: str
    """What the clocks show then, in the zone of the schedule; the same for each person in theirs."""


class ScheduleRunOut(Wire):
    moment: DateTimeText
    """The moment of the schedule."""
    at: DateTimeText
    """When it was done: later than the moment if it was made up for."""
    timezone: str | UnsetType = UNSET
    """The zone of the people whom it was for; absent: all, or those without one."""
    transaction_id: str | UnsetType = UNSET
    """Of the trigger; absent if nothing was triggered."""
    trouble: str | UnsetType = UNSET
    """Why nothing was triggered, or what went wrong."""

    @classmethod
    def of(cls, run: ScheduleRun) -> Self:
        return cls(**_shown_run(run))


class CountedScheduleRunOut(ScheduleRunOut):
    people: int
    """How many people have a run of it, as long as runs are kept."""
    people_capped: bool
    """Whether there are more than `people` says."""

    @classmethod
    def counted(cls, run: ScheduleRun, people: int, *, limit: int) -> Self:
        return cls(**_shown_run(run), people=min(people, limit), people_capped=people > limit)


class ScheduleRunsQuery(Wire):
    limit: Annotated[int, Meta(ge=1, le=100)] = 20


class ScheduleRunsOut(Wire):
    data: list[CountedScheduleRunOut]
    """What the schedule did last, newest first; the last 200 are kept."""


class SchedulePreviewItemOut(Wire):
    timezone: str | UnsetType = UNSET
    """The zone of these people; absent: all, or those without one."""
    at: DateTimeText
    """When they would be notified next."""
    local: str
    """What the clocks show then."""
    people: int
    """How many people there are now."""


class SchedulePreviewOut(Wire):
    zones: list[SchedulePreviewItemOut]
    """In the order of their moments; one for all people unless the time zone is that of each person."""
    is_whole: bool
    """Whether all people were counted: up to 10,000 are looked at."""


class TriggerScheduleOut(Wire):
    id: str = field(name="_id")
    identifier: str
    """Your own id of the schedule."""
    name: str
    """What people call the schedule."""
    workflow_id: str
    """The workflow, as it was given."""
    to: list[Annotated[Any, one_of(SubscriberKeyText, TopicRecipientIn, SegmentRecipientIn, EveryoneIn)]]
    """Who is notified; empty if everybody whom it named was erased."""
    cron: str | UnsetType = UNSET
    """Five fields: minute, hour, day, month, weekday."""
    rrule: str | UnsetType = UNSET
    """A recurrence rule of RFC 5545."""
    timezone: str
    """In which zone the rule holds, or `subscriber`: that of each person."""
    fallback_timezone: str
    """With `subscriber`: of people who have no zone."""
    from_: DateTimeText | UnsetType = field(default=UNSET, name="from")
    """The first moment that is possible."""
    until: DateTimeText | UnsetType = UNSET
    """The last moment that is possible."""
    payload: dict[str, Any]
    overrides: dict[str, Any] | UnsetType = UNSET
    context: Contexts | UnsetType = UNSET
    """Contexts of the messages."""
    catch_up: CatchUp
    """What is done about moments that were missed by more than ten minutes."""
    paused: bool
    """Whether it does nothing for now."""
    status: ScheduleStatus
    """Whether it goes on."""
    next_moments: list[ScheduleMomentOut]
    """The next ten; none while it is paused."""
    last_run: ScheduleRunOut | UnsetType = UNSET
    """What it did last."""
    created_at: DateTimeText
    updated_at: DateTimeText

    @classmethod
    def of(cls, schedule: TriggerSchedule, moments: list[ScheduleMomentOut], last: ScheduleRun | None) -> Self:
        timing = schedule.timing
        return cls(
            id=id_text(schedule.id),
            identifier=schedule.key,
            name=schedule.name,
            workflow_id=schedule.workflow,
            to=[{"type": "Everyone"}] if schedule.is_for_everyone else schedule.recipients,
            cron=given(timing.cron),
            rrule=given(timing.rrule),
            timezone=timing.timezone,
            fallback_timezone=timing.fallback_timezone,
            from_=_moment_or_unset(timing.starts_at),
            until=_moment_or_unset(timing.ends_at),
            payload=schedule.payload,
            overrides=given(schedule.overrides),
            context=given(schedule.contexts),
            catch_up=schedule.catch_up,
            paused=schedule.paused,
            status=schedule.status,
            next_moments=moments,
            last_run=UNSET if last is None else ScheduleRunOut.of(last),
            created_at=iso_text(schedule.created_at),
            updated_at=iso_text(schedule.updated_at),
        )


def _shown_run(run: ScheduleRun) -> dict[str, Any]:
    return {
        "moment": iso_text(run.moment),
        "at": iso_text(run.at),
        "timezone": run.timezone or UNSET,
        "transaction_id": given(run.transaction_key),
        "trouble": given(run.trouble),
    }


def _moment_or_unset(moment: Millis | None) -> str | UnsetType:
    return UNSET if moment is None else iso_text(moment)
