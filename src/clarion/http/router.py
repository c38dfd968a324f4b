"""Routing: one dictionary lookup per path segment, so that the time does not depend on the number of operations."""

from collections.abc import Iterable
from typing import Any
from urllib.parse import unquote_to_bytes

from clarion.errors import MethodNotAllowed, NoSuchRoute
from clarion.http.operation import Operation

_ANY = "{}"


class Router:
    """Finds the operation of a method and a raw path; segments may contain encoded slashes."""

    def __init__(self, operations: Iterable[Operation]) -> None:
        self._root: dict[str, Any] = {}
        # Paths without parameters, such as those of the busiest operations, need a single lookup.
        self._static: dict[tuple[str, bytes], Operation] = {}
        for operation in operations:
            if "{" not in operation.path:
                self._static[operation.method, operation.path.encode()] = operation
            node = self._root
            for segment in operation.path.split("/")[1:]:
                node = node.setdefault(_ANY if segment.startswith("{") else segment, {})
            node.setdefault("", {})[operation.method] = operation

    def find(self, method: str, raw_path: bytes) -> tuple[Operation, list[str]]:
        static = self._static.get((method, raw_path))
        if static is not None:
            return static, []
        route = self._walk(self._root, raw_path.split(b"/")[1:], [])
        if route is None:
            raise NoSuchRoute(f"Cannot {method} {raw_path.decode('ascii', 'replace')}: there is no such path")
        methods, values = route
        if method not in methods:
            raise MethodNotAllowed(method, sorted(methods))
        return methods[method], values

    def _walk(
        self, node: dict[str, Any], segments: list[bytes], values: list[str]
    ) -> tuple[dict[str, Operation], list[str]] | None:
        if not segments:
            return (node[""], values) if "" in node else None
        text = _segment(segments[0])
        if not text:
            return None
        if text in node:
            route = self._walk(node[text], segments[1:], values)
            if route is not None:
                return route
        return self._walk(node[_ANY], segments[1:], [*values, text]) if _ANY in node else None


def _segment(raw: bytes) -> str | None:
    """The text of a segment, or None if it is not valid."""
    try:
        text = (unquote_to_bytes(raw) if b"%" in raw else raw).decode()
    except UnicodeDecodeError:
        return None
    return None if "\x00" in text else text
