"""Times: ends of time spans, recurrences and quiet hours, in a subscriber's time zone."""

from clarion.times.cron import check_cron, next_cron
from clarion.times.durations import find_end, find_length
from clarion.times.recurrence import check_recurrence, next_of_span, next_recurrence, parse_recurrence
from clarion.times.spans import MAX_AHEAD, Unit, end_of
from clarion.times.weekly import is_within, next_within

__all__ = [
    "MAX_AHEAD",
    "Unit",
    "check_cron",
    "check_recurrence",
    "end_of",
    "find_end",
    "find_length",
    "is_within",
    "next_cron",
    "next_of_span",
    "next_recurrence",
    "next_within",
    "parse_recurrence",
]
