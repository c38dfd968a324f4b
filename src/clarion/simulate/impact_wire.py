"""Shapes of what a change of a workflow would mean."""

from typing import Annotated, Self

from msgspec import UNSET, Meta, UnsetType

from clarion.clock import Millis, iso_text
from clarion.http.wire import DateTimeText, Wire, given
from clarion.simulate.impact import EmptyVariable, Impact, TriedTrigger, WaitingRuns
from clarion.simulate.wire import SimulatedMessageOut
from clarion.vault import Vault
from clarion.vocabulary import StepType
from clarion.workflows.confirming import VALID_FOR, make_confirm_token
from clarion.workflows.model import MAX_STEPS
from clarion.workflows.step_wire import StepIn


class ImpactIn(Wire):
    steps: Annotated[list[StepIn], Meta(max_length=MAX_STEPS)]
    """The steps of the workflow as they would be saved."""


class WaitingRunsOut(Wire):
    step_id: str
    name: str
    """The name of the step."""
    type: StepType
    """The type of the step."""
    version: int
    """The number of the version with which the runs go on now."""
    count: int
    """How many runs are at the step."""
    follows: bool
    """Whether they go on with the changed steps; else they keep the version that they started with."""
    gone: bool
    """Whether the changed steps have the step no more, or have it switched off."""

    @classmethod
    def of(cls, waiting: WaitingRuns) -> Self:
        step = waiting.step
        return cls(
            step_id=step.step_id,
            name=step.name,
            type=step.type,
            version=waiting.version,
            count=waiting.count,
            follows=waiting.follows,
            gone=waiting.is_gone,
        )


class ChangeProblemOut(Wire):
    step_id: str
    path: str
    """The place in the controls of the step."""
    message: str
    """The problem in words."""


class EmptyVariableOut(Wire):
    step_id: str
    path: str
    """The place in the controls of the step."""
    variable: str
    """The path of the variable, such as payload.order."""
    missing: int
    """In how many of the last triggers it has no value."""

    @classmethod
    def of(cls, empty: EmptyVariable) -> Self:
        return cls(step_id=empty.step_id, path=empty.path, variable=empty.variable, missing=empty.missing)


class TriedTriggerOut(Wire):
    """One of the last triggers, tried again now for one of its people."""

    transaction_id: str
    subscriber_id: str
    before: list[SimulatedMessageOut]
    """What the person would get as the workflow is."""
    after: list[SimulatedMessageOut]
    """What the person would get after the change."""
    differs: bool
    """Whether the person would notice the change."""
    problem: str | UnsetType = UNSET
    """Why it could not be tried; absent if it could."""

    @classmethod
    def of(cls, tried: TriedTrigger) -> Self:
        return cls(
            transaction_id=tried.transaction_id,
            subscriber_id=tried.subscriber_key,
            before=[SimulatedMessageOut.of(message) for message in tried.before],
            after=[SimulatedMessageOut.of(message) for message in tried.after],
            differs=tried.differs,
            problem=given(tried.problem),
        )


class ImpactOut(Wire):
    """What saving the steps would mean; nothing is saved and nothing is sent."""

    version: int
    """The number of the version that would be replaced."""
    waiting: list[WaitingRunsOut]
    """The runs that are at a step, by step and version."""
    waiting_capped: bool
    """Whether there may be more: of the runs of the environment that are not complete, the newest 10000 are counted."""
    problems: list[ChangeProblemOut]
    """What the changed steps lack, and variables that can never have a value."""
    empty_variables: list[EmptyVariableOut]
    """Values of the payload that the changed steps ask for, and that some of the last triggers have not."""
    trigger_count: int
    """How many of the last triggers were looked at: at most ten."""
    triggers: list[TriedTriggerOut]
    """The last triggers that have runs, before and after the change."""
    complete: bool
    """False if trying them took too long, so that some are left out."""
    confirm_token: str
    """For `confirmToken` when exactly these steps are saved, as long as nobody else has saved the workflow."""
    expires_at: DateTimeText
    """When the token ends: 15 minutes after it was made."""

    @classmethod
    def of(cls, impact: Impact, vault: Vault, now: Millis) -> Self:
        expires_at = Millis(now + VALID_FOR)
        return cls(
            version=impact.current.version.number,
            waiting=[WaitingRunsOut.of(one) for one in impact.waiting],
            waiting_capped=not impact.is_counted,
            problems=[
                ChangeProblemOut(step_id=step_id, path=issue.path, message=issue.message)
                for step_id, issue in impact.problems
            ],
            empty_variables=[EmptyVariableOut.of(one) for one in impact.empty],
            trigger_count=impact.triggers,
            triggers=[TriedTriggerOut.of(one) for one in impact.tried],
            complete=impact.is_complete,
            confirm_token=make_confirm_token(vault, impact.current, impact.steps, expires_at),
            expires_at=iso_text(expires_at),
        )
