"""Layouts as records, and their immutable versions."""

from functools import cached_property
from typing import Final, NamedTuple

from msgspec import Struct

from clarion.audit.model import Actor
from clarion.clock import Millis
from clarion.content.email.compose import EditorType, LayoutSource
from clarion.ids import EnvironmentId, LayoutId, LayoutKey, LayoutVersionId, base62_id, find_id, id_base62
from clarion.jsontext import json_text
from clarion.templates.texts import Texts, may_refer_to_texts
from clarion.workflows.model import kebab

MAX_LAYOUTS: Final = 100
"""Of an environment."""
_SLUG_MARK: Final = "_lyt_"


class Layout(Struct, frozen=True, kw_only=True):
    environment_id: EnvironmentId
    id: LayoutId
    key: LayoutKey
    name: str
    is_default: bool
    """Whether editors offer it for new steps; there is one in each environment that has layouts."""
    version_id: LayoutVersionId
    created_at: Millis
    updated_at: Millis
    deleted_at: Millis | None = None

    @property
    def slug(self) -> str:
        return f"{kebab(self.name)}{_SLUG_MARK}{id_base62(self.id)}"


class LayoutVersion(Struct, frozen=True, kw_only=True, dict=True):
    environment_id: EnvironmentId
    id: LayoutVersionId
    layout_id: LayoutId
    number: int
    source: LayoutSource | None
    """None: nothing is stored, and e-mails are sent without a frame."""
    actor: Actor | None
    """Who saved it; None: not known."""
    created_at: Millis

    @cached_property
    def refers_to_texts(self) -> bool:
        """Whether the body may have a text of `t`."""
        return self.source is not None and may_refer_to_texts(self.source.body)


class VersionedLayout(NamedTuple):
    """A layout with its current version."""

    layout: Layout
    version: LayoutVersion
    is_translated: bool
    """Whether its translations are used."""


class PinnedLayout(Struct, frozen=True, kw_only=True):
    """A layout as it was when the trigger of a run was accepted."""

    id: LayoutId
    key: LayoutKey
    name: str
    version: LayoutVersion


class PreviewedLayout(Struct, frozen=True, kw_only=True):
    """The body of a layout, and its translated texts if it refers to any."""

    source: LayoutSource
    texts: Texts | None


def find_layout_id(reference: str) -> LayoutId | None:
    """Return the id in an `_id` or a slug, or None if the reference can only be an identifier."""
    plain = find_id(reference)
    if plain is None:
        _, mark, encoded = reference.rpartition(_SLUG_MARK)
        plain = base62_id(encoded) if mark else None
    return None if plain is None else LayoutId(plain)


def _paragraph(content: dict[str, object]) -> dict[str, object]:
    return {"type": "paragraph", "attrs": {"textAlign": "left"}, "content": [content]}


_SPACE = _paragraph({"type": "text", "text": " "})
_SLOT = _paragraph({"type": "variable", "attrs": {"id": "content", "required": False}})

START: Final = LayoutSource(json_text({"type": "doc", "content": [_SPACE, _SLOT, _SPACE]}), EditorType.BLOCK)
"""What new layouts have: the content and nothing around it."""
