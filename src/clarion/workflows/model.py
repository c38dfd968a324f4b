"""Workflows as records, their immutable versions, and the layers of preferences."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from clarion.clock import Millis
from clarion.conditions import CompiledLogic, list_segments
from clarion.ids import (
    EnvironmentId,
    LayoutKey,
    SegmentKey,
    WorkflowId,
    WorkflowKey,
    WorkflowVersionId,
    base62_id,
    find_id,
    id_base62,
)
from clarion.jsontext import json_text
from clarion.templates import has_markup
from clarion.templates.texts import may_refer_to_texts
from clarion.tracking.model import TrackingOverride
from clarion.vocabulary import Channel, Severity, StepType

MAX_STEPS = 20
"""In one list: of the workflow, or of a path of a branch."""

_SLUG_MARK = "_wf_"
_STEP_SLUG_MARK = "_st_"
WITH_MARKS = frozenset({StepType.IN_APP, StepType.EMAIL})
"""Steps whose messages are known to be seen and read."""
_OF_MESSAGES = frozenset({StepType.UPDATE, StepType.CLEAR})
_CHANNELS = {StepType(channel.value): channel for channel in Channel}


class WithControls(Struct, frozen=True, kw_only=True, rename="camel", dict=True):
    """Base of steps and variants: controls, with the JSON-logic in `skip` that says when they run, and filters."""

    controls: dict[str, Any] = {}
    filters: list[dict[str, Any]] = []

    @cached_property
    def rule(self) -> CompiledLogic | None:
        logic = self.controls.get("skip")
        return CompiledLogic(logic) if logic else None

    def list_rules(self) -> Iterator[tuple[str, Any]]:
        """Yield the JSON-logic in controls with its path."""
        yield "skip", self.controls.get("skip")
        for number, path in enumerate(self.controls.get("paths") or ()):
            yield f"paths.{number}.condition", path.get("condition")

    @cached_property
    def decoded(self) -> dict[type[Any], Any]:
        """A cache: the controls in the shapes in which they were asked for."""
        return {}

    @cached_property
    def has_templates_in_rule(self) -> bool:
        return has_markup(json_text(self.controls.get("skip")))

    @cached_property
    def has_templates_in_filters(self) -> bool:
        return has_markup(json_text(self.filters))


class Variant(WithControls, frozen=True, kw_only=True, rename="camel"):
    """Other controls for a step, used instead of its own where the filters pass."""

    id: str
    name: str = ""


class ReplyCallback(Struct, frozen=True, kw_only=True):
    """Where replies to the mails of a step are posted to."""

    active: bool = False
    url: str = ""
    """A template over the payload."""


class StepPlace(Struct, frozen=True):
    """Where a step stands that is not on the trunk of its workflow."""

    branch: str
    """The `stepId` of the branch."""
    path: str
    """The name of its path."""


class Step(WithControls, frozen=True, kw_only=True, rename="camel"):
    """One step of a version, as the version's JSON stores it."""

    id: str
    step_id: str
    name: str
    type: StepType
    active: bool = True
    should_stop_on_fail: bool = False
    variants: list[Variant] = []
    reply_callback: ReplyCallback | None = None
    provider_overrides: dict[str, dict[str, Any]] | None = None
    """Of chat and tool steps: what is merged into the requests to each provider, whose texts are templates."""
    within: StepPlace | None = None
    """None: on the trunk."""

    @cached_property
    def channel(self) -> Channel | None:
        return _CHANNELS.get(self.type)

    @cached_property
    def stops_on_failure(self) -> bool:
        """Whether the run ends where the step fails; where an HTTP step says nothing about that, it does."""
        if self.should_stop_on_fail or self.type is not StepType.HTTP_REQUEST:
            return self.should_stop_on_fail
        return not (self.controls.get("continueOnFailure") or self.controls.get("onFailure") == "continue")

    @cached_property
    def path_rules(self) -> list[CompiledLogic | None]:
        """The condition of each path of a branch."""
        rules = (path.get("condition") for path in self.controls.get("paths") or ())
        return [CompiledLogic(rule) if rule else None for rule in rules]

    @cached_property
    def has_templates_in_paths(self) -> bool:
        return has_markup(json_text(self.controls.get("paths")))

    @property
    def choices(self) -> list[str]:
        """The values of what a step that asks can be answered with."""
        return [one["value"] for one in self.controls.get("choices") or ()]

    @cached_property
    def id_bytes(self) -> bytes:
        return find_id(self.id) or bytes(16)

    @property
    def slug(self) -> str:
        plain = find_id(self.id)
        return f"{kebab(self.name)}{_STEP_SLUG_MARK}{self.id if plain is None else id_base62(plain)}"

    def is_named_by(self, reference: str) -> bool:
        """Return whether the reference is this step's identifier, `_id` or slug; the slug's name part is ignored."""
        return reference in (self.step_id, self.id) or reference.endswith(self.slug.removeprefix(kebab(self.name)))


class Switch(Struct, frozen=True, omit_defaults=True):
    enabled: bool
    reason: str | None = None
    """What changed it, if not the settings of the person."""


class MainSwitch(Struct, frozen=True, rename="camel"):
    """For all channels at once; `read_only` makes the workflow critical: people cannot switch it off."""

    enabled: bool | None = None
    read_only: bool = False


class PreferenceLayer(Struct, frozen=True):
    """The switches that one side set; the layer below decides about absent ones."""

    all: MainSwitch = MainSwitch()
    channels: dict[Channel, Switch] = {}


class Workflow(Struct, frozen=True, kw_only=True, dict=True):
    environment_id: EnvironmentId
    id: WorkflowId
    key: WorkflowKey
    name: str
    description: str | None
    active: bool
    tags: list[str]
    severity: Severity
    default_preference: PreferenceLayer | None
    user_preference: PreferenceLayer | None
    tracking: TrackingOverride | None = None
    """What is tracked of its e-mails, where that differs from the environment."""
    takes_replies: bool | None = None
    """Whether its e-mails have an address for replies; None: as the environment does."""
    version_id: WorkflowVersionId
    created_at: Millis
    updated_at: Millis
    deleted_at: Millis | None = None

    @cached_property
    def is_critical(self) -> bool:
        layers = (self.default_preference, self.user_preference)
        return any(layer.all.read_only for layer in layers if layer is not None)

    @property
    def slug(self) -> str:
        return f"{kebab(self.name)}{_SLUG_MARK}{id_base62(self.id)}"


class MovedFrom(Struct, frozen=True, kw_only=True):
    """What a version is made of whose runs go on with another version than they started with."""

    base_id: WorkflowVersionId
    """The version up to the position, which may be made of others itself."""
    base_number: int
    """Of the saved version that its runs started with."""
    onto_id: WorkflowVersionId
    onto_number: int
    position: int
    keeps_step: bool
    """Whether the step at the position is as in the first version; else it is as in the second one."""


class WorkflowVersion(Struct, frozen=True, kw_only=True, dict=True):
    environment_id: EnvironmentId
    id: WorkflowVersionId
    workflow_id: WorkflowId
    number: int
    steps: list[Step]
    """All of them, also those within branches, in reading order: a branch, the steps of each path, what follows it."""
    payload_schema: dict[str, Any] | None
    validate_payload: bool
    created_at: Millis
    moved: MovedFrom | None = None
    """None: it is as somebody saved it."""

    @property
    def onto_id(self) -> WorkflowVersionId:
        """The saved version that its runs go on with."""
        return self.id if self.moved is None else self.moved.onto_id

    @property
    def shown_number(self) -> int:
        """The number of that version."""
        return self.number if self.moved is None else self.moved.onto_number

    @property
    def numbers_text(self) -> str:
        """The numbers of the saved versions that its runs began and go on with."""
        if self.moved is None:
            return f"version {self.number}"
        return f"version {self.moved.base_number} and then version {self.moved.onto_number}"

    def find_step(self, reference: str) -> Step | None:
        return find_step(self.steps, reference)

    @cached_property
    def step_types(self) -> frozenset[StepType]:
        return frozenset(step.type for step in self.steps)

    @cached_property
    def refers_to_steps(self) -> bool:
        """Whether a template, a condition or a step may ask what became of an earlier step."""
        return (
            "steps" in self._text
            or "previousStep" in self._text
            or bool(self.awaited_events)
            or not _OF_MESSAGES.isdisjoint(self.step_types)
        )

    @cached_property
    def refers_to_actor(self) -> bool:
        """Whether a template or a condition may ask who acted."""
        return "actor" in self._text

    @cached_property
    def layout_keys(self) -> frozenset[LayoutKey]:
        """The layouts that its e-mail steps and their variants name."""
        parts = (part for step in self.steps if step.type is StepType.EMAIL for part in (step, *step.variants))
        return frozenset(LayoutKey(key) for part in parts if (key := part.controls.get("layoutId")))

    @cached_property
    def segment_keys(self) -> frozenset[SegmentKey]:
        """The segments that conditions of its steps and their variants refer to."""
        if '"segment"' not in self._text:
            return frozenset()
        parts = (part for step in self.steps for part in (step, *step.variants))
        return frozenset(
            SegmentKey(key) for part in parts for _, rule in part.list_rules() for key in list_segments(rule)
        )

    @cached_property
    def awaited_events(self) -> frozenset[str]:
        """The names of the events that its steps wait for."""
        if StepType.WAIT_FOR not in self.step_types:
            return frozenset()
        names = (step.controls.get("event") for step in self.steps if step.type is StepType.WAIT_FOR)
        return frozenset(name for name in names if isinstance(name, str) and name)

    @cached_property
    def refers_to_texts(self) -> bool:
        """Whether a template may have a text of `t`."""
        return may_refer_to_texts(self._text)

    @cached_property
    def _text(self) -> str:
        return json_text(self.steps)

    @cached_property
    def channels(self) -> list[Channel]:
        """The channels of active steps, each once, in step order."""
        found = [step.channel for step in self.steps if step.active]
        return list(dict.fromkeys(channel for channel in found if channel is not None))


class VersionedWorkflow(NamedTuple):
    """A workflow with its current version."""

    workflow: Workflow
    version: WorkflowVersion


def find_step(steps: Sequence[Step], reference: str) -> Step | None:
    """A step by its identifier, `_id` or slug."""
    exact = (step for step in steps if step.step_id == reference)
    return next(exact, None) or next((step for step in steps if step.is_named_by(reference)), None)


def find_workflow_id(reference: str) -> WorkflowId | None:
    """Return the id in an `_id` or a slug, or None if the reference can only be an identifier."""
    plain = find_id(reference)
    if plain is None:
        _, mark, encoded = reference.rpartition(_SLUG_MARK)
        plain = base62_id(encoded) if mark else None
    return None if plain is None else WorkflowId(plain)


def kebab(text: str) -> str:
    """Return the words of a text in lower case, joined by hyphens."""
    ascii_text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", ascii_text)
    return "-".join(re.findall(r"[a-z0-9]+", spaced.lower()))


decode_steps = msgspec.json.Decoder(list[Step]).decode
decode_layer = msgspec.json.Decoder(PreferenceLayer).decode
