"""Compiles the body of an e-mail, with its layout, to templates, and renders them.

Compiling depends on the texts alone, so it is done once and cached; what differs between people is rendered.
"""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final

from liquid import Markup
from msgspec import Struct

from clarion.cache import BoundedCache
from clarion.templates import render_text

MAX_CACHED: Final = 1024
MAX_CACHED_CHARACTERS: Final = 16 << 20

_SLOT: Final = re.compile(r"\{\{-?\s*content\s*-?\}\}")
_WRAPPED: Final = re.compile(r"<!doctype[^>]*>|<!--.*?-->", re.IGNORECASE | re.DOTALL)


class EditorType(StrEnum):
    BLOCK = "block"
    HTML = "html"


class LayoutSource(Struct, frozen=True):
    """The body of a layout as it is stored."""

    body: str
    editor_type: EditorType


class CompiledEmail(Struct, frozen=True):
    """Templates whose values are escaped when they are rendered."""

    body: str
    """Of the step: the whole e-mail, or what stands in the slot of the layout."""
    frame: str | None = None
    """Of the layout, in which `content` is the rendered body."""


def compile_email(body: str, editor_type: EditorType | None, layout: LayoutSource | None = None) -> CompiledEmail:
    """Return the templates of an e-mail, from the cache if they are there."""
    key = (body, editor_type, layout)
    compiled = _compiled.get(key)
    if compiled is None:
        compiled = _compile(body, layout)
        _compiled.put(key, compiled)
    return compiled


def render_email(
    compiled: CompiledEmail, variables: Mapping[str, Any], layout_variables: Mapping[str, Any] | None = None
) -> str:
    """Render for one person; a layout has its own translations, and otherwise the variables of the step."""
    body = render_text(compiled.body, variables, html=True)
    if compiled.frame is None:
        return body
    inside = {**(variables if layout_variables is None else layout_variables), "content": Markup(body)}
    return render_text(compiled.frame, inside, html=True)


def has_slot(body: str) -> bool:
    """Return whether the HTML of a layout has a place for the content."""
    return _SLOT.search(body) is not None


def _compile(body: str, layout: LayoutSource | None) -> CompiledEmail:
    if layout is None:
        return CompiledEmail(body)
    return CompiledEmail(_WRAPPED.sub("", body), layout.body)


def _weigh(key: tuple[str, EditorType | None, LayoutSource | None]) -> int:
    body, _, layout = key
    return len(body) + (len(layout.body) if layout else 0)


_compiled: Final[BoundedCache[tuple[str, EditorType | None, LayoutSource | None], CompiledEmail]] = BoundedCache(
    limit=MAX_CACHED, weight_limit=MAX_CACHED_CHARACTERS, weigh=_weigh
)
