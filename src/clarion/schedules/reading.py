"""What requests say of a schedule, checked as far as no store is needed."""

from typing import Any, Final

from msgspec import Struct, UnsetType
from msgspec.structs import replace

from clarion.clock import Millis
from clarion.contexts.model import read_contexts
from clarion.errors import Invalid, Problem
from clarion.http.wire import MomentText, changes_of
from clarion.jsontext import plain_value
from clarion.schedules.model import MIN_SPACING_OF_PERSON, CatchUp, Timing
from clarion.schedules.moments import find_wake, has_close_moments
from clarion.schedules.requests import read_to
from clarion.schedules.wire import ScheduleIn, SchedulePatch
from clarion.times import MAX_AHEAD, check_cron, check_recurrence, parse_recurrence
from clarion.triggers.attachments import has_attachments

_HOUR: Final = 3_600_000


class ScheduleChanges(Struct, frozen=True, kw_only=True):
    """What a request sets."""

    fields: dict[str, Any]
    """Of the schedule, by attribute."""
    timing: dict[str, Any]
    """Of its timing. None for a time zone stands for that of the environment."""


def read_changes(body: ScheduleIn | SchedulePatch) -> ScheduleChanges:
    """What the request sets; raises Invalid."""
    fields = changes_of(body, "name", "catch_up", "paused")
    if not isinstance(body.workflow_id, UnsetType):
        fields["workflow"] = body.workflow_id
    if not isinstance(body.to, UnsetType):
        recipients = read_to(body.to)
        fields |= {"recipients": recipients or [], "is_for_everyone": recipients is None}
    for name, value in changes_of(body, "payload", "overrides").items():
        if value is not None and ("attachments" in value or has_attachments(value)):
            raise Invalid.field(name, "has attachments; a schedule cannot attach files")
        fields[name] = (value or {}) if name == "payload" else value
    if not isinstance(body.context, UnsetType):
        fields["contexts"] = read_contexts(plain_value(body.context)) if body.context else None
    return ScheduleChanges(fields=fields, timing=_read_timing(body))


def _read_timing(body: ScheduleIn | SchedulePatch) -> dict[str, Any]:
    rules = {name: text for name, text in changes_of(body, "cron", "rrule").items() if text is not None}
    if len(rules) > 1:
        raise Invalid.field("rrule", "cannot stand beside cron; give one of them")
    if isinstance(body, ScheduleIn) and not rules:
        raise Invalid.field("cron", "or rrule must say when it triggers")
    timing: dict[str, Any] = {"cron": None, "rrule": None, **rules} if rules else {}
    zones = changes_of(body, "timezone", "fallback_timezone")
    timing |= {name: None if zone is None else str(zone) for name, zone in zones.items()}
    bounds = {"from_": "starts_at", "until": "ends_at"}
    for name, value in changes_of(body, *bounds).items():
        timing[bounds[name]] = value.moment if isinstance(value, MomentText) else None
    return timing


def check_timing(timing: Timing, now: Millis) -> None:
    """Raise Invalid with what is wrong with the rule and its bounds."""
    problems = _list_problems(timing, now)
    if problems:
        raise Invalid({path: [Problem(message)] for path, message in problems.items()})
    rule = "rrule" if timing.cron is None else "cron"
    if timing.is_of_person:
        if timing.rrule is not None and parse_recurrence(timing.rrule).is_exact:
            message = "counts hours or minutes, which are the same in all time zones: give a fixed timezone"
            raise Invalid.field(rule, message, timing.rrule)
        if has_close_moments(timing):
            hours = MIN_SPACING_OF_PERSON // _HOUR
            message = f"must leave {hours} hours between its moments, because it triggers once for each time zone"
            raise Invalid.field(rule, message, timing.cron or timing.rrule)
    if find_wake(timing, now) is None:
        raise Invalid.field(rule, "has no moment left within its bounds", timing.cron or timing.rrule)


def with_anchor(timing: Timing, now: Millis) -> Timing:
    """The timing when its rule or its start was set."""
    return replace(timing, anchor=now if timing.starts_at is None else timing.starts_at)


def _list_problems(timing: Timing, now: Millis) -> dict[str, str]:
    problems: dict[str, str] = {}
    if timing.cron is not None:
        _note(problems, "cron", check_cron(timing.cron))
    if timing.rrule is not None:
        _note(problems, "rrule", check_recurrence(timing.rrule))
    for name, moment in (("from", timing.starts_at), ("until", timing.ends_at)):
        if moment is not None and abs(moment - now) > MAX_AHEAD:
            problems[name] = "must be within ten years"
    if timing.starts_at is not None and timing.ends_at is not None and timing.ends_at < timing.starts_at:
        problems["until"] = "must not be earlier than from"
    return problems


def _note(problems: dict[str, str], name: str, problem: str | None) -> None:
    if problem is not None:
        problems[name] = problem


DEFAULT_FIELDS: Final[dict[str, Any]] = {
    "payload": {},
    "overrides": None,
    "contexts": None,
    "catch_up": CatchUp.ONE,
    "paused": False,
}
"""Of a schedule whose request leaves them out."""
