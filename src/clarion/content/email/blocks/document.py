"""The form of a block document: nodes with attributes and marks, within limits."""

import re
from collections.abc import Mapping
from typing import Any, Final

import msgspec
from msgspec import Struct

from clarion.content.email.problems import BodyProblem
from clarion.vocabulary import suggestion

MAX_DEPTH: Final = 30
"""Nodes inside each other."""
MAX_NODES: Final = 5_000
"""Nodes and marks of a document together."""

_START: Final = re.compile(r'\s*\{\s*"type"\s*:\s*"doc"\s*[,}]')
_PLACE: Final = re.compile(r" - at `\$(.*)`\Z", re.DOTALL)


class Mark(Struct, frozen=True, forbid_unknown_fields=True):
    type: str
    attrs: dict[str, Any] | None = None


class Node(Struct, frozen=True, forbid_unknown_fields=True):
    type: str
    attrs: dict[str, Any] | None = None
    content: list["Node"] | None = None
    text: str | None = None
    marks: list[Mark] | None = None

    @property
    def children(self) -> list["Node"]:
        return self.content or []


MARKS: Final = ("underline", "bold", "italic", "strike", "code", "textStyle", "link")
"""In the order in which they are nested, from inside out."""

_decode = msgspec.json.Decoder(Node).decode


def is_block_document(body: str) -> bool:
    """Return whether a body is JSON of the block editor."""
    if not body.lstrip().startswith("{"):
        return False
    if _START.match(body):
        return True
    try:
        document = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError):
        return False
    return isinstance(document, dict) and document.get("type") == "doc"


def is_json(body: str) -> bool:
    """Return whether a body is JSON of an object or a list, which nobody writes as HTML."""
    if not body.lstrip().startswith(("{", "[")):
        return False
    try:
        return isinstance(msgspec.json.decode(body), dict | list)
    except (msgspec.DecodeError, RecursionError):
        return False


def read_document(body: str) -> Node | BodyProblem:
    """Decode a document within the limits, or say what is wrong with it."""
    try:
        document = _decode(body)
    except RecursionError:
        return _too_deep("body")
    except msgspec.DecodeError as error:
        message = str(error)
        place = _PLACE.search(message)
        path = f"body{place[1]}" if place else "body"
        return BodyProblem(path, f"is no block document: {_PLACE.sub('', message)}")
    if document.type != "doc" or document.content is None:
        return BodyProblem("body", 'is no block document: it must have the type "doc" and a list as content')
    return _find_excess(document) or document


def has_variable(body: str, name: str) -> bool:
    """Return whether a document has a variable of this name, at any depth."""
    document = read_document(body)
    nodes = [] if isinstance(document, BodyProblem) else [document]
    while nodes:
        node = nodes.pop()
        if node.type == "variable" and (node.attrs or {}).get("id") == name:
            return True
        nodes += node.children
    return False


def _find_excess(document: Node) -> BodyProblem | None:
    count, level, depth = 0, [document], 0
    while level:
        count += len(level) + sum(len(node.marks) for node in level if node.marks)
        if count > MAX_NODES:
            return BodyProblem("body", f"has more than {MAX_NODES} nodes and marks; split it, or give it as HTML")
        if depth > MAX_DEPTH:
            return _too_deep("body")
        level = [child for node in level for child in node.children]
        depth += 1
    return None


def _too_deep(path: str) -> BodyProblem:
    return BodyProblem(path, f"has more than {MAX_DEPTH} nodes inside each other")


def unknown_type(path: str, kind: str, name: str, known: Mapping[str, Any] | tuple[str, ...]) -> BodyProblem:
    """Describe a node or mark that nobody knows, with what was probably meant."""
    hint = suggestion(name, known)
    shown = name[:60]
    return BodyProblem(f"{path}.type", f"'{shown}' is no {kind}{hint}; known are {', '.join(known)}")
