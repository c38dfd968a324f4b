"""What a check finds."""

from enum import StrEnum

from msgspec import Struct


class CheckStatus(StrEnum):
    OK = "ok"
    WARNING = "warning"
    """Works, but someone should look."""
    PROBLEM = "problem"
    """Something does not work, or will not for long."""


class Finding(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The result of one check; `remedy` says what to do unless all is well."""

    check: str
    status: CheckStatus
    summary: str
    remedy: str | None = None


def fine(check: str, summary: str) -> Finding:
    return Finding(check=check, status=CheckStatus.OK, summary=summary)


def warning(check: str, summary: str, remedy: str) -> Finding:
    return Finding(check=check, status=CheckStatus.WARNING, summary=summary, remedy=remedy)


def problem(check: str, summary: str, remedy: str) -> Finding:
    return Finding(check=check, status=CheckStatus.PROBLEM, summary=summary, remedy=remedy)


def worst(findings: list[Finding]) -> CheckStatus:
    order = list(CheckStatus)
    return max((one.status for one in findings), key=order.index, default=CheckStatus.OK)
