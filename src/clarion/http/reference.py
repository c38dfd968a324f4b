"""The reference page at /docs: the API description as one HTML page without external resources."""

from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

import msgspec

_STYLE = Path(__file__).with_name("reference.css").read_text()


def render_reference(description: bytes) -> bytes:
    """Render the OpenAPI description as a page."""
    api = msgspec.json.decode(description)
    parts = [
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>",
        f"<title>{escape(api['info']['title'])} API</title><style>{_STYLE}</style><body>",
        "<nav><b>Clarion API</b>",
        *_navigation(api),
        "</nav><main>",
        f"<h1>{escape(api['info']['title'])} API <span class=soft>{escape(api['info']['version'])}</span></h1>",
        *(f"<p>{_prose(paragraph)}</p>" for paragraph in api["info"]["description"].split("\n\n")),
        "<p>Machine-readable: <a href='/openapi.json'>/openapi.json</a> (OpenAPI 3.1).</p>",
        *_sections(api),
        "</main></body></html>",
    ]
    return "\n".join(parts).encode()


def _operations(api: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in api["paths"].items():
        for method, operation in methods.items():
            yield method.upper(), path, operation


def _navigation(api: dict[str, Any]) -> Iterator[str]:
    for tag in api["tags"]:
        yield f"<h2>{escape(tag['name'])}</h2>"
        for method, path, operation in _operations(api):
            if tag["name"] in operation["tags"]:
                name, where = operation["operationId"], _breakable(path)
                yield f"<a href='#{name}'><span class=m>{method}</span><span>{where}</span></a>"


def _sections(api: dict[str, Any]) -> Iterator[str]:
    for tag in api["tags"]:
        for method, path, operation in _operations(api):
            if tag["name"] in operation["tags"]:
                yield from _section(method, path, operation, api)


def _section(method: str, path: str, operation: dict[str, Any], api: dict[str, Any]) -> Iterator[str]:
    yield f"<section id='{operation['operationId']}'><h3>{_prose(operation['summary'])}</h3>"
    yield f"<p><span class=m>{method}</span> <span class=path>{escape(path)}</span></p>"
    if "description" in operation:
        yield f"<p>{_prose(operation['description'])}</p>"
    if "x-scope" in operation:
        yield f"<p class=soft>Scope: <code>{escape(operation['x-scope'])}</code></p>"
    yield from _parameters(operation, api)
    if "requestBody" in operation:
        content = operation["requestBody"]["content"]["application/json"]
        yield "<h4>Body</h4>"
        yield from _fields(content["schema"], api)
        yield _code(_example(content))
    yield "<h4>Answers</h4>"
    for status, response in operation["responses"].items():
        yield from _response(status, _resolved(response, api))
    yield "</section>"


def _parameters(operation: dict[str, Any], api: dict[str, Any]) -> Iterator[str]:
    parameters = [_resolved(one, api) for one in operation["parameters"]]
    rows = [one for one in parameters if one["in"] != "header"]
    if rows:
        yield "<h4>Parameters</h4><table>"
        for one in rows:
            need = "" if one["required"] else " <span class=soft>optional</span>"
            yield f"<tr><td><code>{escape(one['name'])}</code>{need}<td class=soft>{one['in']}"
            yield f"<td>{escape(_kind(one['schema'], api))}</tr>"
        yield "</table>"


def _fields(schema: dict[str, Any], api: dict[str, Any]) -> Iterator[str]:
    shape = _resolved(schema, api)
    if "properties" not in shape:
        return
    yield "<table>"
    required = shape.get("required", ())
    for name, one in sorted(shape["properties"].items(), key=lambda item: item[0] not in required):
        need = "" if name in required else " <span class=soft>optional</span>"
        yield f"<tr><td><code>{escape(name)}</code>{need}<td>{escape(_kind(one, api))}</tr>"
    yield "</table>"


def _response(status: str, response: dict[str, Any]) -> Iterator[str]:
    content = response.get("content", {}).get("application/json")
    label = f"<b>{status}</b> {_prose(response['description'])}"
    if content is None:
        yield f"<p>{label}</p>"
    else:
        is_open = " open" if status.startswith("2") else ""
        yield f"<details{is_open}><summary>{label}</summary>{_code(_example(content))}</details>"


def _kind(schema: dict[str, Any], api: dict[str, Any]) -> str:
    """Describe a schema in a few words."""
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(_kind(one, api) for one in schema["anyOf"]))
    if "$ref" in schema:
        target = _resolved(schema, api)
        return _kind(target, api) if "enum" in target else str(schema["$ref"]).rpartition("/")[2]
    if "enum" in schema:
        return "one of " + ", ".join(str(one) for one in schema["enum"])
    words = str(schema.get("format") or schema.get("type") or "anything")
    if schema.get("type") == "array":
        words = f"array of {_kind(schema.get('items', {}), api)}"
    if "description" in schema:
        words = f"{words}, {schema['description']}"
    bounds = [f"{key}: {schema[key]}" for key in _BOUNDS if key in schema]
    return words + (f" ({', '.join(bounds)})" if bounds else "")


_BOUNDS = ("minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "default")


def _resolved(schema: dict[str, Any], api: dict[str, Any]) -> dict[str, Any]:
    if "$ref" not in schema:
        return schema
    _, _, kind, name = schema["$ref"].split("/")
    found: dict[str, Any] = api["components"][kind][name]
    return found


def _example(content: dict[str, Any]) -> Any:
    return content["examples"]["example"]["value"]


def _code(example: Any) -> str:
    return f"<pre>{escape(msgspec.json.format(msgspec.json.encode(example), indent=2).decode())}</pre>"


def _breakable(path: str) -> str:
    """A path that may wrap at its slashes."""
    return escape(path).replace("/", "/<wbr>")


def _prose(text: str) -> str:
    """Escape a text and render backticks as code."""
    pieces = escape(text, quote=False).split("`")
    return "".join(f"<code>{piece}</code>" if number % 2 else piece for number, piece in enumerate(pieces))
