"""Shapes of layouts."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from msgspec import UNSET, Meta, UnsetType, field

from clarion.audit.model import Actor
from clarion.clock import iso_text
from clarion.content.email.compose import EditorType, LayoutSource
from clarion.content.layouts.model import MAX_LAYOUTS, Layout, VersionedLayout
from clarion.http.preconditions import make_etag
from clarion.http.wire import DateTimeText, EmailText, OriginText, Wire
from clarion.ids import id_text
from clarion.vocabulary import OrderDirection
from clarion.workflows.control_checks import MAX_STEP_TEXT
from clarion.workflows.issues import Issue
from clarion.workflows.model import VersionedWorkflow
from clarion.workflows.step_wire import IdentifierText, StepIssuesOut, issues_out
from clarion.workflows.variables import describe_layout_variables

LayoutName = Annotated[str, Meta(min_length=1, max_length=128)]

_DATA_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "email": {
            "type": "object",
            "properties": {
                "body": {"type": "string", "minLength": 1},
                "editorType": {"type": "string", "enum": ["block", "html"], "default": "block"},
            },
            "required": ["body"],
            "additionalProperties": False,
        }
    },
    "additionalProperties": False,
}
_UI_SCHEMA: dict[str, Any] = {
    "group": "LAYOUT",
    "properties": {
        "email": {
            "component": "LAYOUT_EMAIL",
            "properties": {
                "body": {"component": "EMAIL_BODY", "placeholder": ""},
                "editorType": {"component": "EMAIL_EDITOR_SELECT", "placeholder": "block"},
            },
        }
    },
}


class LayoutKeyText(IdentifierText):
    __slots__ = ()
    RULE = f"{IdentifierText.RULE}, or empty"
    EXAMPLE = "newsletter"

    @classmethod
    def accepts(cls, text: str) -> bool:
        return not text or super().accepts(text)


class LayoutIn(Wire):
    """A new layout. It has the content of e-mails and nothing around it, until a body is saved."""

    layout_id: LayoutKeyText
    """The identifier of the layout, by which steps name it; made from the name if empty. It cannot change."""
    name: LayoutName
    """What people call the layout."""
    is_translation_enabled: bool = False
    """Whether the translations of the layout are used."""
    source: Literal["dashboard"] | UnsetType = field(name="__source", default=UNSET)
    """What made it; accepted from clients that send it, and of no effect."""


class LayoutEmailIn(Wire):
    body: Annotated[str, Meta(min_length=1, max_length=MAX_STEP_TEXT)]
    """A whole HTML document with `{{content}}`, or the JSON of a document of the block editor with a variable block
    `content`: there the content of e-mails stands."""
    editor_type: EditorType = EditorType.BLOCK
    """Which of the two the body is."""

    def source(self) -> LayoutSource:
        return LayoutSource(self.body, self.editor_type)


class LayoutValuesIn(Wire):
    email: LayoutEmailIn | UnsetType = UNSET
    """What stands around e-mails; absent: nothing."""

    def source(self) -> LayoutSource | None:
        return None if isinstance(self.email, UnsetType) else self.email.source()


class LayoutPut(Wire):
    name: LayoutName
    """What people call the layout."""
    is_translation_enabled: bool | UnsetType = UNSET
    """Whether the translations of the layout are used; switching off keeps them."""
    control_values: LayoutValuesIn | UnsetType | None = UNSET
    """The body, which replaces the stored one; null deletes that, and absent keeps it."""

    def source(self) -> LayoutSource | UnsetType | None:
        values = self.control_values
        return values.source() if isinstance(values, LayoutValuesIn) else values


class DuplicateLayoutIn(Wire):
    name: LayoutName
    """The name of the copy."""
    layout_id: LayoutKeyText | UnsetType = UNSET
    """The identifier of the copy; made from its name if absent or empty."""
    is_translation_enabled: bool = False
    """Whether the copy has the translations of the layout."""


class LayoutOrder(StrEnum):
    CREATED_AT = "createdAt"
    UPDATED_AT = "updatedAt"
    NAME = "name"


class LayoutsQuery(Wire):
    limit: Annotated[int, Meta(ge=1, le=MAX_LAYOUTS)] = 50
    offset: Annotated[int, Meta(ge=0, le=1_000_000_000)] = 0
    order_direction: OrderDirection = OrderDirection.DESC
    order_by: LayoutOrder = LayoutOrder.CREATED_AT
    """What the list is sorted by."""
    query: str | None = None
    """Only layouts whose name or identifier contains this text, in any case."""


class LayoutEmailOut(Wire):
    body: str
    """A whole HTML document, or the JSON of a document of the block editor."""
    editor_type: EditorType
    """Which of the two the body is."""


class LayoutValuesOut(Wire):
    email: LayoutEmailOut | UnsetType = UNSET
    """What stands around e-mails; absent if nothing does, and in lists."""

    @classmethod
    def of(cls, source: LayoutSource | None) -> Self:
        return cls() if source is None else cls(email=LayoutEmailOut(body=source.body, editor_type=source.editor_type))


class LayoutControlsOut(Wire):
    """The body, with the JSON Schema of a form for it and the widgets that fit its fields."""

    values: LayoutValuesOut
    """The stored body."""
    data_schema: dict[str, Any]
    """The JSON Schema of the values."""
    ui_schema: dict[str, Any]
    """The widget that fits each value."""


class EditorOut(Wire):
    """Who saved something: a member, or an API key by its name."""

    id: str = field(name="_id")
    first_name: str | None
    """What it was called then; null if that is not known."""

    @classmethod
    def of(cls, actor: Actor | None) -> Self | None:
        return None if actor is None or actor.id is None else cls(id=actor.id, first_name=actor.name)


class LayoutOut(Wire):
    """A layout with its current version; `etag` is the value for `If-Match` when it is saved."""

    id: str = field(name="_id")
    layout_id: str
    """The identifier of the layout, by which steps name it."""
    slug: str
    name: str
    """What people call the layout."""
    is_default: bool
    """Whether editors offer it for new steps; steps without a layout have none."""
    is_translation_enabled: bool
    """Whether the translations of the layout are used."""
    origin: OriginText
    type: Literal["BRIDGE"]
    """Always the same; published clients require it."""
    controls: LayoutControlsOut
    """The body with the schema of a form for it."""
    variables: dict[str, Any]
    """The JSON Schema of the variables that the body may use; empty in lists."""
    version: int
    """The number of the current version, which grows with each change of the body."""
    etag: str
    """The value for `If-Match`, so that saving is refused if someone else saved meanwhile."""
    updated_by: EditorOut | None
    """Who saved the body; null if that is not known."""
    created_at: DateTimeText
    updated_at: DateTimeText
    issues: StepIssuesOut | UnsetType = UNSET
    """Texts that the body refers to and that the default language lacks; absent if there are none, and in lists."""

    @classmethod
    def of(
        cls, current: VersionedLayout, origin: str, *, is_listed: bool = False, missing: Sequence[Issue] = ()
    ) -> Self:
        layout, version, is_translated = current
        source = None if is_listed else version.source
        return cls(
            id=id_text(layout.id),
            layout_id=layout.key,
            slug=layout.slug,
            name=layout.name,
            is_default=layout.is_default,
            is_translation_enabled=is_translated,
            origin=origin,
            type="BRIDGE",
            controls=LayoutControlsOut(
                values=LayoutValuesOut.of(source), data_schema=_DATA_SCHEMA, ui_schema=_UI_SCHEMA
            ),
            variables={} if is_listed else describe_layout_variables(),
            version=version.number,
            etag=etag_of(layout),
            updated_by=EditorOut.of(version.actor),
            created_at=iso_text(layout.created_at),
            updated_at=iso_text(layout.updated_at),
            issues=issues_out(missing),
        )


class LayoutsOut(Wire):
    layouts: list[LayoutOut]
    """The layouts of this page, without bodies and variables."""
    total_count: int
    """How many layouts match in all."""


class LayoutUserOut(Wire):
    name: str
    """What people call the workflow."""
    workflow_id: str

    @classmethod
    def of(cls, user: VersionedWorkflow) -> Self:
        return cls(name=user.workflow.name, workflow_id=user.workflow.key)


class LayoutUsageOut(Wire):
    workflows: list[LayoutUserOut]
    """The workflows with a step that names the layout."""


class LayoutPreviewPayload(Wire):
    """The variables to render with."""

    subscriber: dict[str, Any] = field(default_factory=dict)
    """The person, as templates see `subscriber`."""
    context: dict[str, Any] = field(default_factory=dict)
    """The contexts, as templates see `context`."""


class LayoutPreviewIn(Wire):
    """A body to preview instead of the saved one, and the variables."""

    control_values: LayoutValuesIn | None = None
    """The body to preview; without it, the saved one."""
    preview_payload: LayoutPreviewPayload | None = None
    """The variables to render with; those that are missing are empty."""


class LayoutTestEmailIn(LayoutPreviewIn):
    """A layout that need not be saved: its body, the variables, and where to send it."""

    to: EmailText | None = None
    """The address to send to, which API keys must name; members get it at their own address, and at no other."""
    integration_id: Annotated[str, Meta(max_length=255)] | None = None
    """The identifier or `_id` of the active e-mail integration to send through; without it, the one that is first for
    e-mails whose conditions hold."""


class LayoutPreviewTextOut(Wire):
    body: str
    """The rendered HTML, with a box where the content of e-mails stands."""


class LayoutPreviewResultOut(Wire):
    type: Literal["email"]
    """Always e-mail: other channels have no layouts."""
    preview: LayoutPreviewTextOut | UnsetType = UNSET
    """What is rendered; absent if the body cannot be."""


class LayoutPreviewOut(Wire):
    result: LayoutPreviewResultOut
    """What e-mails would look like."""
    preview_payload_example: LayoutPreviewPayload
    """The variables that were used."""
    schema: dict[str, Any] | None
    """The JSON Schema of the variables; null if the body cannot be rendered."""
    issues: StepIssuesOut | UnsetType = UNSET
    """Why the body cannot be rendered or saved; absent if it can be."""
    missing_texts: list[str] | UnsetType = UNSET
    """The keys of `t` that have no text for the person, and are shown instead; absent if there are none."""


def etag_of(layout: Layout) -> str:
    """Of the layout with its body, which is another one only under another version id."""
    return make_etag(layout)
