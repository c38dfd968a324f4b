"""When a schedule triggers: its next moments, and those that have passed."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise, takewhile
from typing import Final

from msgspec import Struct

from clarion.clock import DAY, HOUR, MINUTE, Millis
from clarion.schedules.model import (
    LATE_AFTER,
    MAX_CATCH_UP,
    MAX_CATCH_UP_OF_ZONE,
    MIN_SPACING_OF_PERSON,
    CatchUp,
    Timing,
)
from clarion.times import MAX_AHEAD, next_cron, next_of_span, next_recurrence, parse_recurrence
from clarion.times.spans import local_time, moment_of, offset_at, zone_of

# Half hours without those that no zone has, and quarters of Nepal, Eucla and the Chathams. Were one missing, its people
# would be served late, when the next zone is.
_HALF_HOURS: Final = (
    *(hours * HOUR for hours in range(-12, 15)),
    *(hours * HOUR + HOUR // 2 for hours in (-10, -4, -3, 3, 4, 5, 6, 9, 10)),
)
_QUARTERS: Final = tuple(hours * HOUR + 45 * MINUTE for hours in (5, 8, 12, 13))
_OFFSETS: Final = tuple(sorted((*_HALF_HOURS, *_QUARTERS)))
"""From UTC, of the clocks of all zones."""
_SHORT: Final = 2 * DAY
_WIDENED: Final = 2 * HOUR
"""More than clocks are ever changed by."""
_PROBED: Final = 50


class DueMoment(Struct, frozen=True, order=True):
    moment: Millis
    zone: str
    """As in a run of the schedule: empty for all people, and for those without a zone."""


def next_moment(timing: Timing, after: Millis, zone: str) -> Millis | None:
    """The next moment of a schedule strictly after `after` in a time zone; None if there is none left."""
    starts_at, ends_at = _in_zone(timing, timing.starts_at, zone), _in_zone(timing, timing.ends_at, zone)
    if starts_at is not None:
        after = Millis(max(after, starts_at - 1))
    moment = _next_of_rule(timing, after, zone)
    if moment is None or moment >= after + MAX_AHEAD:
        return None
    return None if ends_at is not None and moment > ends_at else moment


def _next_of_rule(timing: Timing, after: Millis, zone: str) -> Millis | None:
    if timing.cron is not None:
        return next_cron(timing.cron, after, zone)
    rule = parse_recurrence(timing.rrule or "")
    if rule.is_exact:
        return next_of_span(rule, timing.anchor, after)
    start = local_time(timing.anchor, zone_of(timing.shown_timezone))
    return next_recurrence(rule, start, after, zone)


def _in_zone(timing: Timing, moment: Millis | None, zone: str) -> Millis | None:
    """A bound in a zone of people: when the clocks there show what those of the fallback zone show at the bound."""
    if moment is None or not timing.is_of_person or zone == timing.fallback_timezone:
        return moment
    return moment_of(local_time(moment, zone_of(timing.fallback_timezone)), zone_of(zone))


def list_moments(timing: Timing, after: Millis, zone: str) -> Iterator[Millis]:
    """Yield the moments after `after`, in order."""
    moment = next_moment(timing, after, zone)
    while moment is not None:
        yield moment
        moment = next_moment(timing, moment, zone)


def find_wake(timing: Timing, after: Millis) -> Millis | None:
    """When to look at a schedule next: at its next moment in its zone, or in any zone that people may have.

    The clocks of all zones show UTC plus one of few offsets, so the moments of a zone are those in UTC minus these.
    Nobody may be in that zone, and nothing is done then.
    """
    if not timing.is_of_person:
        return next_moment(timing, after, timing.timezone)
    in_utc = _list_until_behind(timing, Millis(after + _OFFSETS[0]), Millis(after + _OFFSETS[-1]))
    places = ((offset, bisect_right(in_utc, after + offset)) for offset in _OFFSETS)
    return min((Millis(in_utc[place] - offset) for offset, place in places if place < len(in_utc)), default=None)


def list_due(
    timing: Timing, catch_up: CatchUp, zones: Iterable[str], *, done_until: Millis, now: Millis
) -> list[DueMoment]:
    """What passed since `done_until` in each of the zones, as far as it is to be made up for, in order."""
    if timing.is_of_person and now - done_until <= _SHORT:
        zones = _leave_out_quiet(timing, zones, done_until, now)
    return sorted(
        DueMoment(moment, zone)
        for zone in zones
        for moment in _choose(timing, catch_up, zone or timing.shown_timezone, done_until, now)
    )


def has_close_moments(timing: Timing) -> bool:
    """Whether moments follow each other too closely for a schedule in the zones of people, as far as the first tell."""
    moments = list(islice(list_moments(timing, Millis(timing.anchor - 1), "UTC"), _PROBED))
    return any(later - earlier < MIN_SPACING_OF_PERSON for earlier, later in pairwise(moments))


def _leave_out_quiet(timing: Timing, zones: Iterable[str], done_until: Millis, now: Millis) -> list[str]:
    """The zones without those where certainly no moment has come: with many zones, most are."""
    first, last = Millis(done_until + _OFFSETS[0] - _WIDENED), Millis(now + _OFFSETS[-1] + _WIDENED)
    in_utc = _list_until_behind(timing, first, last)
    left = []
    for zone in zones:
        info = zone_of(zone or timing.shown_timezone)
        offsets = [offset_at(done_until, info), offset_at(now, info)]
        place = bisect_right(in_utc, done_until + min(offsets) - _WIDENED)
        if place < len(in_utc) and in_utc[place] <= now + max(offsets) + _WIDENED:
            left.append(zone)
    return left


def _choose(timing: Timing, catch_up: CatchUp, zone: str, done_until: Millis, now: Millis) -> Sequence[Millis]:
    """The moments in one zone that are to be made up for."""
    if (next_moment(timing, done_until, zone) or now + 1) > now:
        return ()
    limit = 1 if catch_up is not CatchUp.ALL else MAX_CATCH_UP_OF_ZONE if timing.is_of_person else MAX_CATCH_UP
    passed = _list_last(timing, zone, done_until, now, enough=limit)
    on_time = [moment for moment in passed if moment >= now - LATE_AFTER]
    if catch_up is CatchUp.ALL:
        return passed[-max(limit, len(on_time)) :]
    if catch_up is CatchUp.ONE and not on_time:
        return passed[-1:]
    return on_time


def _list_last(timing: Timing, zone: str, done_until: Millis, now: Millis, *, enough: int) -> list[Millis]:
    """The last moments up to now: at least `enough`, unless there are fewer since `done_until`.

    It looks back further and further, so that a long downtime of a frequent schedule costs no more than a short one.
    """
    span: int = HOUR
    while True:
        start = Millis(max(done_until, now - span))
        passed = list(takewhile(lambda moment: moment <= now, list_moments(timing, start, zone)))
        if len(passed) >= enough or start == done_until:
            return passed
        span *= 4


def _list_until_behind(timing: Timing, after: Millis, last: Millis) -> list[Millis]:
    """The moments in UTC after `after`, up to the first one behind `last`."""
    moments = []
    for moment in list_moments(timing, after, "UTC"):
        moments.append(moment)
        if moment > last:
            break
    return moments
