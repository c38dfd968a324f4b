"""Conditions of segments: which variables they may name, and what these are for a person."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from clarion.clock import Millis, iso_text
from clarion.conditions import (
    OF_SEGMENTS,
    CompiledLogic,
    ConditionResult,
    check_logic,
    explain_logic,
    list_segments,
)
from clarion.conditions.values import split_path
from clarion.subscribers.model import Subscriber
from clarion.vocabulary import Channel, suggestion
from clarion.work import spend_work
from clarion.workflows.variables import person_variables

PERSON: Final = "subscriber"
TOPICS: Final = "topics"
CHANNELS: Final = "channels"
FIELDS: Final = (
    *("subscriberId", "email", "phone", "firstName", "lastName", "avatar", "locale", "timezone", "data"),
    *("channels", "topics", "createdAt", "isOnline", "lastOnlineAt"),
)
"""Of `subscriber`."""

_LOOPS: Final = frozenset({"all", "some", "none"})
_WORK_PER_PARTS: Final = 4
"""How many parts of a simple condition are evaluated in the time of a step of work, which is not counted otherwise."""


class PersonFacts:
    """What is stored of a person outside of their row; empty where no condition asks."""

    __slots__ = ("providers", "topics")

    def __init__(self, topics: Sequence[str] = (), providers: Sequence[str] = ()) -> None:
        self.topics = topics
        self.providers = providers
        """The channels of their entries at providers: chat, push."""


NO_FACTS: Final = PersonFacts()


class SegmentCondition:
    """The condition of a segment, compiled for many people."""

    def __init__(self, logic: Any) -> None:
        self.logic = logic
        self._compiled = CompiledLogic(logic)
        fields = {split_path(path)[1] for path in _list_variables(logic) if "." in path}
        self.reads_topics = TOPICS in fields
        self.reads_channels = CHANNELS in fields
        self._work = 1 + count_parts(logic) // _WORK_PER_PARTS

    def includes(self, person: Subscriber, facts: PersonFacts, *, now: Millis) -> bool:
        spend_work(self._work)
        return self._compiled.passes(make_variables(person, facts), now=now, limits=OF_SEGMENTS)

    def explain(self, person: Subscriber, facts: PersonFacts, *, now: Millis) -> ConditionResult:
        """Decide, and list the comparisons that were made."""
        return explain_logic(self.logic, make_variables(person, facts), now=now, limits=OF_SEGMENTS)


def make_variables(person: Subscriber, facts: PersonFacts) -> Mapping[str, Any]:
    """The variables of conditions: those that steps have, and what only segments ask for."""
    return {
        PERSON: {
            **person_variables(person),
            "createdAt": iso_text(person.created_at),
            TOPICS: list(facts.topics),
            CHANNELS: _list_channels(person, facts.providers),
        }
    }


def find_problem(condition: Any) -> str | None:
    """Return what is wrong with the condition of a segment, or None."""
    problem = check_logic(condition, OF_SEGMENTS)
    if problem is not None:
        return problem
    for key in list_segments(condition):
        return f"refers to the segment '{key}': segments do not refer to each other; put its condition here"
    return next((found for path in _list_variables(condition) if (found := _find_unknown(path))), None)


def count_parts(rule: Any) -> int:
    """How many operators, lists and values a rule has."""
    if isinstance(rule, list):
        return 1 + sum(map(count_parts, rule))
    return 1 + sum(map(count_parts, rule.values())) if isinstance(rule, dict) else 1


def _list_variables(rule: Any) -> Iterator[str]:
    """Yield the paths of variables; empty for one that is computed. Those of items of lists are not looked at."""
    if isinstance(rule, list):
        for part in rule:
            yield from _list_variables(part)
    if not isinstance(rule, dict) or len(rule) != 1:
        return
    ((operator, given),) = rule.items()
    arguments = given if isinstance(given, list) else [given]
    if operator == "var":
        path = arguments[0] if arguments else ""
        yield path if isinstance(path, str) else ""
        yield from _list_variables(arguments[1:])
    else:
        yield from _list_variables(arguments[:1] if operator in _LOOPS else arguments)


def _find_unknown(path: str) -> str | None:
    names = split_path(path)
    if not path or names[0] != PERSON or len(names) < 2:
        hint = suggestion(f"{PERSON}.{path}", [f"{PERSON}.{one}" for one in FIELDS])
        return f"names the variable '{path}', which is none of the person; use '{PERSON}.' and a field{hint}"
    if names[1] not in FIELDS:
        return (
            f"names the unknown field '{names[1]}' of the person; own fields are in '{PERSON}.data'"
            f"{suggestion(names[1], FIELDS)}"
        )
    return None


def _list_channels(person: Subscriber, providers: Sequence[str]) -> list[str]:
    """The channels that the person has an address for; everybody has an inbox."""
    own = [Channel.IN_APP.value]
    own += [Channel.EMAIL.value] if person.email else []
    own += [Channel.SMS.value] if person.phone else []
    return [*own, *dict.fromkeys(providers)]
