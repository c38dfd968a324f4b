"""Steps of kinds that older clients do not know, as `custom` steps whose controls say what they are.

Clients that know a closed set of types cannot read an answer with another one. Where Clarion has the names of those
clients, they see `custom` with `{"custom": {"type": "branch", …}}`, and what they write back is the step again.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from clarion.vocabulary import StepType
from clarion.workflows.model import Step

_KNOWN: Final = {
    *(StepType.IN_APP, StepType.EMAIL, StepType.SMS, StepType.CHAT, StepType.PUSH),
    *(StepType.DIGEST, StepType.DELAY, StepType.THROTTLE, StepType.CUSTOM),
}
SHOWN_AS_CUSTOM: Final = frozenset(StepType) - _KNOWN
KEPT_CONTROLS: Final = {StepType.DIGEST: frozenset({"slideUpTo", "maxItems", "dynamicKey", "retain", "version"})}
"""Controls of known types that those clients leave out when they write a step back, because they do not know them."""
CONTENT: Final = "custom"
_SKIP: Final = "skip"


def keep_controls(step: Step, previous: Sequence[Step]) -> Step:
    """Return a step that an older client writes back with the controls that it does not know; null takes one away."""
    names = KEPT_CONTROLS.get(step.type, frozenset())
    known = next((one for one in previous if one.id == step.id), None) if names else None
    if known is None:
        return step
    kept = {name: value for name, value in known.controls.items() if name in names and name not in step.controls}
    return replace(step, controls={**step.controls, **kept}) if kept else step


def make_custom_form(kind: StepType, controls: Mapping[str, Any]) -> dict[str, Any]:
    """Return the controls of a step of another kind as those of a custom step."""
    own = {name: value for name, value in controls.items() if name != _SKIP}
    outside = {_SKIP: controls[_SKIP]} if _SKIP in controls else {}
    return {**outside, CONTENT: {"type": kind.value, **own}}
