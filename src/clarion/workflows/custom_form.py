"""Steps of kinds that older clients do not know, as `custom` steps whose controls say what they are.

Clients that know a closed set of types cannot read an answer with another one. Where Clarion has the names of those
clients, they see `custom` with `{"custom": {"type": "branch", …}}`, and what they write back is the step again.
"""

from collections.abc import Mapping
from typing import Any, Final

from clarion.vocabulary import StepType

SHOWN_AS_CUSTOM: Final = frozenset({StepType.BRANCH, StepType.EXIT, StepType.TRIGGER, StepType.TOOL})
CONTENT: Final = "custom"
_SKIP: Final = "skip"


def make_custom_form(kind: StepType, controls: Mapping[str, Any]) -> dict[str, Any]:
    """Return the controls of a step of another kind as those of a custom step."""
    own = {name: value for name, value in controls.items() if name != _SKIP}
    outside = {_SKIP: controls[_SKIP]} if _SKIP in controls else {}
    return {**outside, CONTENT: {"type": kind.value, **own}}
