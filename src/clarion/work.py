"""Budgets of work: how much the texts and conditions of one run or request may cost.

Work is counted in steps, by what an operation costs, and not in time: the same text renders or fails on every machine.
A step takes about two microseconds.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

MAX_TEXT_WORK: Final = 25_000
"""Of one text."""
MAX_RUN_WORK: Final = 50_000
"""Of all texts and conditions of a run while it is worked on, or of a request."""
MAX_UNIT_WORK: Final = 10_000
"""Of the runs of a unit of work together; beyond it, the remaining runs are left to the next unit."""
MAX_DECISION_WORK: Final = 25_000
"""Of one condition."""
MAX_RULES_WORK: Final = 1_000
"""Of all that one person says about the topics of a trigger; beyond it, their conditions do not pass."""
MAX_SEGMENT_WORK: Final = 500
"""Of the condition of a segment, for one person."""


class WorkBudget:
    """Counts the work of several texts and conditions, and limits what the next ones may cost."""

    __slots__ = ("_limit", "spent")

    def __init__(self, limit: int = MAX_RUN_WORK) -> None:
        self.spent = 0
        self._limit = limit

    @property
    def left(self) -> int:
        return self._limit - self.spent

    @property
    def is_unit_done(self) -> bool:
        """Whether a unit of work takes on no more runs."""
        return self.spent > MAX_UNIT_WORK

    def start_run(self, limit: int = MAX_RUN_WORK) -> None:
        """Give the next run of a unit its own budget, whatever those before it have spent."""
        self._limit = self.spent + limit

    def raise_limit(self, work: int) -> None:
        self._limit += work


_current: ContextVar[WorkBudget | None] = ContextVar("work_budget", default=None)

find_budget = _current.get
"""Returns the budget that work counts towards, or None if nothing limits it but the limit of each text."""


@contextmanager
def spending(budget: WorkBudget) -> Iterator[None]:
    """Count the work of everything inside towards a budget."""
    token = _current.set(budget)
    try:
        yield
    finally:
        _current.reset(token)


def allow_work(limit: int) -> int:
    """Return how much work the next text or condition may be: at most `limit`, and what the budget has left."""
    budget = find_budget()
    return limit if budget is None else min(limit, budget.left)


def spend_work(work: int) -> bool:
    """Count work towards the budget; returns whether it had that much left."""
    budget = find_budget()
    if budget is None:
        return True
    budget.spent += work
    return budget.left >= 0


def note_parsing(work: int) -> None:
    """Count work that fails no run: what is parsed is cached, so that only the first run would fail."""
    budget = find_budget()
    if budget is not None:
        budget.spent += work
        budget.raise_limit(work)
