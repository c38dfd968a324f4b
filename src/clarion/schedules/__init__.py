"""Schedules: ends of time spans, recurrences and quiet hours, in a subscriber's time zone."""

from clarion.schedules.cron import check_cron, next_cron
from clarion.schedules.spans import MAX_AHEAD, Unit, end_of
from clarion.schedules.weekly import is_within, next_within

__all__ = ["MAX_AHEAD", "Unit", "check_cron", "end_of", "is_within", "next_cron", "next_within"]
