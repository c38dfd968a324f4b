"""Conditions: whether a step runs, as groups of filters or as JSON-logic."""

from clarion.conditions.filters import (
    check_filters,
    decide_filters,
    list_fields,
    list_previous_steps,
    list_unsupported,
    rename_previous_steps,
)
from clarion.conditions.kinds import Circumstances, FilterKind
from clarion.conditions.logic import (
    CompiledLogic,
    FindSegment,
    check_logic,
    decide_logic,
    explain_logic,
    list_rule_variables,
    list_segments,
)
from clarion.conditions.operations import OF_SEGMENTS, OF_SUBSCRIBERS
from clarion.conditions.values import ConditionResult, shorten

__all__ = [
    "OF_SEGMENTS",
    "OF_SUBSCRIBERS",
    "Circumstances",
    "CompiledLogic",
    "ConditionResult",
    "FilterKind",
    "FindSegment",
    "check_filters",
    "check_logic",
    "decide_filters",
    "decide_logic",
    "explain_logic",
    "list_fields",
    "list_previous_steps",
    "list_rule_variables",
    "list_segments",
    "list_unsupported",
    "rename_previous_steps",
    "shorten",
]
