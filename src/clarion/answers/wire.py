"""Shapes of answers that applications give."""

from typing import Annotated, Self

from msgspec import UNSET, Meta, UnsetType

from clarion.answers.model import RunAnswer
from clarion.clock import iso_text
from clarion.http.wire import DateTimeText, SubscriberKeyText, Wire


class RunAnswerIn(Wire, forbid_unknown_fields=True):
    step_id: Annotated[str, Meta(min_length=1, max_length=255)]
    """The `stepId` of the step that asks."""
    choice: Annotated[str, Meta(min_length=1, max_length=64)]
    """The `value` of one of its choices."""
    by: SubscriberKeyText | UnsetType = UNSET
    """The `subscriberId` of who answers, who must exist; without it, the person of the run."""


class RunAnswerOut(Wire):
    answer: str
    """The `value` of the choice."""
    label: str
    """What the choice is called."""
    by: str
    """The `subscriberId` of who answered."""
    at: DateTimeText
    """When the answer was given."""

    @classmethod
    def of(cls, answer: RunAnswer) -> Self:
        return cls(answer=answer.choice, label=answer.label, by=str(answer.by), at=DateTimeText(iso_text(answer.at)))
