"""Shapes of previews of steps."""

from collections.abc import Mapping
from typing import Any, Self

from msgspec import UNSET, UnsetType, field

from clarion.http.wire import Wire, given
from clarion.templates.texts import NAME as TEXTS
from clarion.templates.texts import Texts
from clarion.vocabulary import StepType
from clarion.workflows.step_wire import StepKind


class PreviewPayloadIn(Wire):
    """The variables to render with, as `variables` of the step describes them."""

    payload: dict[str, Any] = field(default_factory=dict)
    subscriber: dict[str, Any] = field(default_factory=dict)
    """The person, as templates see `subscriber`."""
    steps: dict[str, Any] = field(default_factory=dict)
    """The results of steps before, by their `stepId`, as templates see `steps`."""
    actor: dict[str, Any] | UnsetType | None = UNSET
    """The person who caused it, as templates see `actor`."""
    context: dict[str, Any] | UnsetType = UNSET
    """The contexts, as templates see `context`."""
    workflow: dict[str, Any] | UnsetType = UNSET
    """The workflow, as templates see `workflow`; without it, the workflow itself."""
    step: dict[str, Any] | UnsetType = UNSET
    """The events of a digest before the step; without it, none."""
    env: dict[str, Any] | UnsetType = UNSET
    """The environment and its variables, as templates see `env`; without it, the real ones, with secrets masked."""
    locale: str | UnsetType = UNSET
    """The language to render in; without it, that of `subscriber`, else the default of the organization."""
    unsubscribe_url: str | UnsetType = field(name="unsubscribe_url", default=UNSET)
    """The link to unsubscribe; without it, a sample, which changes nothing."""
    preferences_url: str | UnsetType = field(name="preferences_url", default=UNSET)
    """The link to choose messages; without it, a sample, which changes nothing."""


class PreviewIn(Wire):
    """Controls to preview instead of the saved ones, and the variables."""

    control_values: dict[str, Any] | None = None
    """The content to preview; without it, that of the saved step."""
    preview_payload: PreviewPayloadIn | None = None
    """The variables to render with; those that are missing are made up."""


class UnsavedPreviewIn(PreviewIn):
    """A step that need not be saved: its type, its controls and the variables.

    The payload gets the defaults of `payloadSchema`, as that of a trigger does if the workflow validates payloads.
    """

    type: StepKind
    """The type of the step."""
    payload_schema: dict[str, Any] | None = None
    workflow_id: str | None = None
    """The identifier, `_id` or slug of the workflow whose translations `t` has; without it, there are none."""


class PreviewResultOut(Wire):
    type: StepType
    """The type of the step."""
    preview: dict[str, Any]
    """The rendered content, by the names of the controls."""


class PreviewOut(Wire):
    preview_payload_example: PreviewPayloadIn
    """The variables that were used, with those that were made up."""
    result: PreviewResultOut
    """What the step would send."""
    schema: dict[str, Any] | UnsetType = UNSET
    """The JSON Schema of the variables."""
    missing_texts: list[str] | UnsetType = UNSET
    """The keys of `t` that have no text for the person, and are shown instead; absent if there are none."""

    @classmethod
    def of(
        cls,
        body: PreviewIn,
        result: PreviewResultOut,
        schema: dict[str, Any] | None,
        variables: Mapping[str, Any],
    ) -> Self:
        texts = variables.get(TEXTS)
        return cls(
            preview_payload_example=body.preview_payload or PreviewPayloadIn(),
            result=result,
            schema=given(schema),
            missing_texts=(list(texts.missing) or UNSET) if isinstance(texts, Texts) else UNSET,
        )
