"""How large a JSON-logic rule may be, what it may use, and how much work it may take."""

from typing import Final

from msgspec import Struct

from clarion.work import MAX_DECISION_WORK

# They repeat a part of the rule for each item of a list, or make texts and lists of any length.
_REPEATING: Final = ("map", "filter", "reduce", "all", "some", "none", "merge", "cat", "substr")


class RuleLimits(Struct, frozen=True, kw_only=True):
    max_depth: int
    max_parts: int
    """Operators, lists and values."""
    max_work: int
    """Of one decision."""
    max_bytes: int | None = None
    """As JSON."""
    refused: tuple[str, ...] = ()
    """Operators that a rule must not have."""


OF_WORKFLOWS: Final = RuleLimits(max_depth=32, max_parts=2_000, max_work=MAX_DECISION_WORK)
OF_SUBSCRIBERS: Final = RuleLimits(max_depth=8, max_parts=40, max_work=100, max_bytes=1_000, refused=_REPEATING)
"""What people set themselves is decided at every trigger, at the expense of everybody."""
