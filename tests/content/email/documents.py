"""Makes block documents for tests."""

import json
from collections.abc import Mapping
from typing import Any

from clarion.content.email.compose import EditorType, LayoutSource, compile_email, render_email

Node = dict[str, Any]


def make_node(kind: str, *content: Node, **attrs: Any) -> Node:
    return {"type": kind} | ({"attrs": attrs} if attrs else {}) | ({"content": list(content)} if content else {})


def make_text(text: str, *marks: Node) -> Node:
    return {"type": "text", "text": text} | ({"marks": list(marks)} if marks else {})


def make_document(*nodes: Node) -> str:
    return json.dumps({"type": "doc", "content": list(nodes)})


def paragraph(*inline: Node | str, **attrs: Any) -> Node:
    return make_node("paragraph", *(make_text(one) if isinstance(one, str) else one for one in inline), **attrs)


def variable(name: str, **attrs: Any) -> Node:
    return make_node("variable", id=name, **attrs)


SLOT = LayoutSource("{{ content }}", EditorType.HTML)
"""A layout of nothing but the content: what is rendered in it is the part of the step alone."""


def render(
    body: str,
    variables: Mapping[str, Any] | None = None,
    editor_type: EditorType | None = None,
    layout: LayoutSource | None = SLOT,
    title: str = "Title",
) -> str:
    return render_email(compile_email(body, editor_type, layout), variables or {}, title=title)


def render_nodes(*nodes: Node, **variables: Any) -> str:
    return render(make_document(*nodes), variables)
