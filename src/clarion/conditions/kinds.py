"""Filters on something other than a field: what became of an earlier step, and whether the person is online."""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, Final

from msgspec import Struct

from clarion.clock import DAY, HOUR, MINUTE, Millis
from clarion.conditions.values import find_boolean, find_date, find_number

Problems = list[tuple[str, str]]
"""Paths inside a filter, each with what is wrong there."""


class FilterKind(StrEnum):
    """What a filter is on."""

    PAYLOAD = "payload"
    SUBSCRIBER = "subscriber"
    PREVIOUS_STEP = "previousStep"
    IS_ONLINE = "isOnline"
    IS_ONLINE_IN_LAST = "isOnlineInLast"


class MessageMark(StrEnum):
    """What a filter on an earlier step asks of its message."""

    READ = "read"
    UNREAD = "unread"
    SEEN = "seen"
    UNSEEN = "unseen"


UNSUPPORTED: Final = ("webhook", "tenant")
"""Kinds that existing dashboards write and that are not evaluated; such a filter never passes."""

_UNITS: Final = {"minutes": MINUTE, "hours": HOUR, "days": DAY}
_NO_STEP: Final = "names no earlier in-app or email step"


class Circumstances(Struct, frozen=True, kw_only=True):
    """What filters ask about beyond the variables."""

    now: Millis
    find_previous: Callable[[str], Mapping[str, Any] | None]
    """The outputs of an earlier in-app or e-mail step, by its stepId or `_id`; None if there is no such step."""


def check_kind(part: Mapping[str, Any]) -> Problems:
    """List what is wrong with a filter that is not on a field."""
    match part.get("on"):
        case FilterKind.PREVIOUS_STEP:
            return _check_previous_step(part)
        case FilterKind.IS_ONLINE:
            is_fine = _is_template(part.get("value")) or find_boolean(part.get("value")) is not None
            return [] if is_fine else [(".value", "must be true or false")]
        case FilterKind.IS_ONLINE_IN_LAST:
            return _check_online_in_last(part)
    return []


def decide_kind(part: Mapping[str, Any], variables: Mapping[str, Any], at: Circumstances | None) -> dict[str, Any]:
    """Decide a filter that is not on a field; one that cannot be decided has a problem."""
    if at is None:
        return {"passed": False, "on": part["on"], "problem": "is only for the steps of workflows"}
    match part["on"]:
        case FilterKind.PREVIOUS_STEP:
            decision = _decide_previous_step(part, at)
        case FilterKind.IS_ONLINE:
            decision = _decide_online(part, variables)
        case _:
            decision = _decide_online_in_last(part, variables, at.now)
    return {"passed": False, "on": part["on"], **decision}


def _check_previous_step(part: Mapping[str, Any]) -> Problems:
    problems = []
    if not isinstance(part.get("step"), str) or not part["step"]:
        problems.append((".step", "must be the stepId or the _id of an earlier in-app or email step"))
    if part.get("stepType") not in list(MessageMark):
        problems.append((".stepType", f"must be one of {', '.join(MessageMark)}"))
    return problems


def _check_online_in_last(part: Mapping[str, Any]) -> Problems:
    problems = []
    if part.get("timeOperator") not in list(_UNITS):
        problems.append((".timeOperator", f"must be one of {', '.join(_UNITS)}"))
    if not _is_template(part.get("value")) and (find_number(part.get("value")) or 0) <= 0:
        problems.append((".value", "must be a number greater than 0"))
    return problems


def _decide_previous_step(part: Mapping[str, Any], at: Circumstances) -> dict[str, Any]:
    reference, wanted = part.get("step"), part.get("stepType")
    outputs = at.find_previous(reference) if isinstance(reference, str) else None
    compared = {"step": reference, "expected": wanted}
    if outputs is None or wanted not in list(MessageMark):
        return {**compared, "problem": _NO_STEP if outputs is None else "has no known stepType"}
    # A step that made no message, because it was skipped or failed, was not seen.
    seen, read = outputs.get("seen") is True, outputs.get("read") is True
    passed = {"read": read, "unread": not read, "seen": seen, "unseen": not seen}[str(wanted)]
    return {**compared, "passed": passed, "actual": {"seen": seen, "read": read}}


def _decide_online(part: Mapping[str, Any], variables: Mapping[str, Any]) -> dict[str, Any]:
    expected, actual = find_boolean(part.get("value")), _person(variables).get("isOnline") is True
    if expected is None:
        return {"problem": "value must be true or false"}
    return {"passed": actual is expected, "expected": expected, "actual": actual}


def _decide_online_in_last(part: Mapping[str, Any], variables: Mapping[str, Any], now: Millis) -> dict[str, Any]:
    amount, unit = find_number(part.get("value")), part.get("timeOperator")
    length = _UNITS.get(unit) if isinstance(unit, str) else None
    if amount is None or length is None:
        return {"problem": "needs a value and a timeOperator"}
    person = _person(variables)
    last_online_at = find_date(person.get("lastOnlineAt"))
    is_recent = last_online_at is not None and now - last_online_at <= amount * length
    return {
        "passed": person.get("isOnline") is True or is_recent,
        "expected": f"{amount} {unit}",
        "actual": {"isOnline": person.get("isOnline") is True, "lastOnlineAt": person.get("lastOnlineAt")},
    }


def _person(variables: Mapping[str, Any]) -> Mapping[str, Any]:
    found = variables.get("subscriber")
    return found if isinstance(found, Mapping) else {}


def _is_template(value: Any) -> bool:
    return isinstance(value, str) and "{{" in value
