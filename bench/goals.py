"""The goals for the figures, and whether a run meets them.

A goal is judged by the one run that it was measured in; nothing is measured again because a limit was missed.
"""

import operator
import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from bench.figures import Key, Summary
from bench.systems import BASELINE, FLOOR_HTTP, POSTGRES, SQLITE
from bench.workloads import (
    environments,
    fanout,
    hostile,
    mailbox,
    mails,
    membership,
    pages,
    retention,
    scaling,
    sockets,
    stream,
    takeover,
)


class Medians(Struct, frozen=True):
    """The medians of a run."""

    summaries: Mapping[Key, Summary]

    def find(self, workload: str, system: str, name: str) -> float | None:
        found = self.summaries.get(Key(workload, system, name))
        return None if found is None else found.median

    def find_ratio(self, above: Key, below: Key) -> float | None:
        """Return the median of the ratios of each round, because the load of the machine differs between rounds."""
        pairs = zip(self._values(above), self._values(below), strict=False)
        ratios = [one / other for one, other in pairs if other]
        return statistics.median(ratios) if ratios else None

    def _values(self, key: Key) -> tuple[float, ...]:
        """Return one value for each round, from the first round on; there may be fewer than rounds."""
        return self.summaries[key].values if key in self.summaries else ()

    def find_highest(self, workload: str, ending: str) -> float | None:
        """Return the highest median of a workload among the figures whose names end with `ending`."""
        found = [
            one.median for key, one in self.summaries.items() if key.workload == workload and key.name.endswith(ending)
        ]
        return max(found, default=None)


Value = Callable[[Medians], float | None]
Sign = Literal["≥", "≤", "<"]
MET, NARROW, MISSED, NOT_MEASURED = "met", "met, narrow", "missed", "not measured"

_NARROW_SHARE = 0.1

_COMPARISONS: Mapping[Sign, Callable[[float, float], bool]] = {"≥": operator.ge, "≤": operator.le, "<": operator.lt}


class Goal(Struct, frozen=True):
    text: str
    sign: Sign
    limit: float
    value: Value
    unit: str = ""

    def is_met(self, value: float) -> bool:
        return _COMPARISONS[self.sign](value, self.limit)

    def is_near(self, value: float) -> bool:
        """Return whether a value is so near to the limit that another run could be on its other side."""
        return self.limit != 0 and abs(value - self.limit) <= _NARROW_SHARE * self.limit


class Verdict(Struct, frozen=True):
    """A goal and its measured value; None if the run did not measure it."""

    goal: Goal
    value: float | None

    @property
    def word(self) -> str:
        if self.value is None:
            return NOT_MEASURED
        if not self.goal.is_met(self.value):
            return MISSED
        return NARROW if self.goal.is_near(self.value) else MET


def judge(summaries: Mapping[Key, Summary]) -> list[Verdict]:
    medians = Medians(summaries)
    return [Verdict(goal, goal.value(medians)) for goal in GOALS]


def _value(workload: str, system: str, name: str) -> Value:
    return lambda medians: medians.find(workload, system, name)


def _ratio(above: tuple[str, str, str], below: tuple[str, str, str]) -> Value:
    return lambda medians: medians.find_ratio(Key(*above), Key(*below))


def _worst(choose: Callable[[Sequence[float]], float], workloads: Sequence[str], system: str, name: str) -> Value:
    """Return the highest or the lowest value of several workloads."""

    def value(medians: Medians) -> float | None:
        found = [one for one in (medians.find(workload, system, name) for workload in workloads) if one is not None]
        return choose(found) if found else None

    return value


_EXTERNAL = ("external mail", "external chat")
_BASELINE_CPU = ("trigger", BASELINE, "cpu_ms")
_NAMES = {SQLITE: "SQLite", POSTGRES: "PostgreSQL"}


def _of_trigger(system: str, *, times_less_cpu: float) -> list[Goal]:
    name, completed = _NAMES[system], ("trigger", system, "per_second")
    return [
        Goal(
            f"In-app trigger on {name}: times less CPU than the baseline, all processes counted",
            "≥",
            times_less_cpu,
            _ratio(_BASELINE_CPU, ("trigger", system, "cpu_ms")),
        ),
        Goal(
            f"Completed in-app triggers on {name}: times the baseline's rate",
            "≥",
            30,
            _ratio(completed, ("trigger", BASELINE, "per_second")),
        ),
        Goal(
            f"Completed in-app triggers on {name}: share of the rate of a POST without work",
            "≥",
            0.20,
            _ratio(completed, ("trigger", FLOOR_HTTP, "per_second")),
        ),
        Goal(
            f"Completed in-app triggers on {name}: share of the rate of writing their rows alone",
            "≥",
            0.25,
            _ratio(completed, ("trigger", f"floor storage {system}", "per_second")),
        ),
        Goal(f"SQL statements of an in-app trigger on {name}", "<", 1, _value("trigger", system, "statements")),
    ]


def _of_system(system: str, *, times_less_fanout: float) -> list[Goal]:
    name = _NAMES[system]
    return [
        Goal(
            f"Fan-out to 100 000 on {name}: times less CPU a recipient than a trigger of the baseline",
            "≥",
            times_less_fanout,
            _ratio(_BASELINE_CPU, (fanout.NAME, system, "cpu_ms")),
        ),
        Goal(f"E-mail or chat message on {name}: CPU", "≤", 1, _worst(max, _EXTERNAL, system, "cpu_ms"), "ms"),
        Goal(
            f"E-mail or chat on {name}: messages by one worker through providers that take 50 ms",
            "≥",
            1000,
            _worst(min, _EXTERNAL, system, "per_second"),
            "1/s",
        ),
        Goal(f"End to end at half load on {name}: median", "≤", 30, _value("latency", system, "half_p50_ms"), "ms"),
        Goal(f"End to end at half load on {name}: p99", "≤", 150, _value("latency", system, "half_p99_ms"), "ms"),
        Goal(f"First answer on an existing store, {name}", "≤", 1.5, _value("lifetime", system, "start_seconds"), "s"),
    ]


def _of_scaling(kind: str) -> list[Goal]:
    """Four and eight workers, compared with one of the same speed."""
    return [
        Goal(
            f"{scaling.TITLES[kind]}: times the rate of one worker with {workers}",
            "≥",
            times,
            _ratio(
                (scaling.workload_name(kind, workers), POSTGRES, "per_second"),
                (scaling.workload_name(kind, 1), POSTGRES, "per_second"),
            ),
        )
        for workers, times in {4: 3.4, 8: 6}.items()
    ]


def _of_sockets(system: str) -> list[Goal]:
    """The worse one of both protocols."""
    name, kinds = _NAMES[system], [sockets.workload_name(kind) for kind in sockets.KINDS]
    return [
        Goal(f"{text} on {name}", "≤", limit, _worst(max, kinds, system, figure), unit)
        for text, limit, figure, unit in (
            ("Memory of an open socket beyond idle", 25, "memory_kb", "KB"),
            ("Broadcast to 10 000 open sockets: until the last one has it", 3, "broadcast_seconds", "s"),
            ("Message at its socket at 1000 triggers a second: median", 30, "arrival_p50_ms", "ms"),
            ("Message at its socket at 1000 triggers a second: p99", 150, "arrival_p99_ms", "ms"),
        )
    ]


def _of_tenants(workload: str, system: str) -> Goal:
    return Goal(
        f"{workload} on {_NAMES[system]} by one worker: times the CPU of a trigger of one environment",
        "≤",
        1.3,
        _ratio((workload, system, "shared_cpu_ms"), (workload, system, "alone_cpu_ms")),
    )


def _of_membership(name: str) -> Value:
    return _value(membership.NAME, POSTGRES, name)


def _of_neighbour(system: str, part: str) -> Goal:
    def value(medians: Medians) -> float | None:
        pairs = [
            [Key(hostile.NAME, system, hostile.figure_name(attack, situation, part)) for situation in _SITUATIONS]
            for attack in hostile.ATTACKS
        ]
        return max((one for one in (medians.find_ratio(*pair) for pair in pairs) if one is not None), default=None)

    text = (
        f"Trigger beside a hostile environment on {_NAMES[system]}, {part}: times the latency without it, worst attack"
    )
    return Goal(text, "≤", 2, value)


def _of_takeover(kind: str) -> list[Goal]:
    workload, title = takeover.workload_name(kind), f"After an API process with 1000 {kind} sockets was killed"
    return [
        Goal(f"{title}: seconds until another serves all of them", "≤", 15, _value(workload, POSTGRES, "seconds"), "s"),
        Goal(f"{title}: incomplete lists", "≤", 0, _value(workload, POSTGRES, "incomplete_lists")),
    ]


def _of_mailbox(system: str, what: str, title: str, limit: float) -> list[Goal]:
    floor = (mailbox.NAME, system, "floor_cpu_ms")
    return [
        Goal(
            f"{title} of a person with {count} messages on {_NAMES[system]}: times the CPU of an empty POST",
            "≤",
            limit,
            _ratio((mailbox.NAME, system, f"{what}_{name}_cpu_ms"), floor),
        )
        for name, count in mailbox.MESSAGES.items()
    ]


def _of_mails(system: str) -> list[Goal]:
    return [
        Goal(
            f"{title} on {_NAMES[system]}: times the CPU of a {plain}",
            "≤",
            1.25,
            _ratio(
                (mails.NAME, system, mails.figure_name(kind)),
                (mails.NAME, system, mails.figure_name(other)),
            ),
        )
        for title, kind, plain, other in (
            ("Mail of blocks in a layout", "blocks", "plain one", "plain"),
            ("Mail of blocks in a layout with a repeat", "repeat", "plain one", "plain"),
            ("Translated mail of blocks in a layout", "translated", "plain one", "plain"),
            ("Translated mail to people of eight languages", "languages", "mail to people of one", "translated"),
        )
    ]


def _of_retention(system: str, what: str, title: str) -> Goal:
    names = [retention.figure_name(situation, f"{what} p99") for situation in ("deleting", "alone")]
    above, below = ((retention.NAME, system, name) for name in names)
    return Goal(
        f"1000 triggers a second while a million old runs are deleted on {_NAMES[system]}, p99 until {title}: "
        "times that without",
        "≤",
        2,
        _ratio(above, below),
    )


_SITUATIONS = ("attacked", "alone")
_TENANTS = (environments.BUSY, environments.BUSY_BULK)
_IDLE = environments.IDLE

GOALS = (
    *_of_trigger(SQLITE, times_less_cpu=50),
    *_of_trigger(POSTGRES, times_less_cpu=35),
    *_of_system(SQLITE, times_less_fanout=150),
    *_of_system(POSTGRES, times_less_fanout=100),
    Goal(
        "Lists at a million messages: times the p95 at 10 thousand, the worst of all",
        "≤",
        2,
        lambda medians: medians.find_highest(pages.NAME, "p95 ratio"),
    ),
    *_of_sockets(SQLITE),
    *_of_sockets(POSTGRES),
    *(
        Goal(
            f"100 listeners of the stream of runs at 1000 triggers a second on {_NAMES[system]}: share of a core",
            "≤",
            5,
            _value(stream.NAME, system, "listeners_percent"),
            "%",
        )
        for system in _NAMES
    ),
    *(goal for kind in takeover.KINDS for goal in _of_takeover(kind)),
    Goal("Memory of `clarion serve`, idle", "≤", 100, _value("lifetime", SQLITE, "idle_mb"), "MB"),
    Goal(
        "Memory of `clarion serve` after the first start", "≤", 100, _value("lifetime", SQLITE, "first_idle_mb"), "MB"
    ),
    Goal("First answer of a first start, SQLite", "≤", 1.5, _value("lifetime", SQLITE, "first_start_seconds"), "s"),
    Goal("Memory of `clarion serve`, under load", "≤", 200, _value("lifetime", SQLITE, "loaded_mb"), "MB"),
    *(goal for kind in scaling.TITLES for goal in _of_scaling(kind)),
    *(
        Goal(f"Under load, after {event}: seconds until the rate is back", "≤", 10, _of_membership(name), "s")
        for event, name in {
            "a fifth worker has started": "start_recovery_seconds",
            "one of five workers was killed": "kill_recovery_seconds",
        }.items()
    ),
    Goal(
        "Under load, after one of five workers was killed: seconds until all lanes are worked on again",
        "≤",
        10,
        _of_membership("silence_after_kill_seconds"),
        "s",
    ),
    Goal("Lost or repeated work after a worker was killed", "≤", 0, _of_membership("broken_rules")),
    *(_of_tenants(workload, system) for workload in _TENANTS for system in _NAMES),
    Goal(
        "Single trigger beside 10 000 idle environments: times the CPU of worker and PostgreSQL without them",
        "≤",
        1.5,
        _ratio((_IDLE, POSTGRES, "many_cpu_ms"), (_IDLE, POSTGRES, "few_cpu_ms")),
    ),
    Goal(
        "Worker without work beside 10 000 idle environments: share of a core",
        "≤",
        1,
        _value(_IDLE, POSTGRES, "many_resting_worker_percent"),
        "%",
    ),
    *(goal for system in _NAMES for goal in _of_mailbox(system, "count", "Counts of the inbox", 2.5)),
    *(goal for system in _NAMES for goal in _of_mailbox(system, "page", "A page of the inbox", 4)),
    *(goal for system in _NAMES for goal in _of_mails(system)),
    *(_of_neighbour(system, part) for system in _NAMES for part in ("p50", "p99")),
    *(
        _of_retention(system, what, title)
        for system in _NAMES
        for what, title in {"accepted": "the answer", "arrived": "the message is in the store"}.items()
    ),
)
