"""The reference page at /docs: the API description as one HTML page without external resources."""

import base64
import hashlib
from collections.abc import Iterable, Iterator
from html import escape
from pathlib import Path
from typing import Any

import msgspec

from clarion.http.description.texts import as_sentences

_STYLE = Path(__file__).with_name("reference.css").read_text()
_STYLE_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()

REFERENCE_POLICY = (
    f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
).encode()
"""The content security policy of the page: its own style, and nothing else."""


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
        "<h2 id=shapes>Shapes</h2>",
        *_shapes(api),
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
    yield "<h2><a href='#shapes'>Shapes</a></h2>"


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
        ((media_type, content),) = operation["requestBody"]["content"].items()
        yield "<h4>Body</h4>"
        yield from _fields(content["schema"], api)
        yield _code(_example(content)) if "examples" in content else f"<p>As <code>{escape(media_type)}</code>.</p>"
    yield "<h4>Answers</h4>"
    for status, response in operation["responses"].items():
        yield from _response(status, _resolved(response, api), api)
    yield "</section>"


def _parameters(operation: dict[str, Any], api: dict[str, Any]) -> Iterator[str]:
    parameters = [_resolved(parameter, api) for parameter in operation["parameters"]]
    rows = [parameter for parameter in parameters if parameter["in"] != "header"]
    if rows:
        yield "<h4>Parameters</h4><table>"
        for parameter in rows:
            need = "" if parameter["required"] else " optional"
            yield _row(
                parameter["name"],
                need,
                parameter["schema"],
                [parameter["description"], *_rules(parameter["schema"])],
                api,
            )
        yield "</table>"


def _fields(schema: dict[str, Any], api: dict[str, Any]) -> Iterator[str]:
    """The members of an object, those that are required first."""
    shape = _resolved(schema, api)
    if "properties" not in shape:
        return
    yield "<table>"
    required = shape.get("required", ())
    for name, one in sorted(shape["properties"].items(), key=lambda item: item[0] not in required):
        yield _row(name, "" if name in required else " optional", one, _rules(one), api)
    yield "</table>"


def _row(name: str, need: str, schema: dict[str, Any], texts: Iterable[str], api: dict[str, Any]) -> str:
    about = _prose(as_sentences(*dict.fromkeys(texts)))
    return (
        f"<tr><td><code>{escape(name)}</code><span class=soft>{need}</span>"
        f"<td>{about}<div class=soft>{_kind(schema, api)}</div></tr>"
    )


def _rules(schema: dict[str, Any]) -> Iterator[str]:
    """The description of a value, and of its alternatives and items."""
    if "description" in schema:
        yield schema["description"]
    for inner in (*schema.get("anyOf", ()), *([schema["items"]] if "items" in schema else ())):
        yield from _rules(inner)


def _response(status: str, response: dict[str, Any], api: dict[str, Any]) -> Iterator[str]:
    content = response.get("content", {}).get("application/json")
    label = f"<b>{status}</b> {_prose(response['description'])}"
    if content is None:
        yield f"<p>{label}</p>"
    else:
        is_open = " open" if status.startswith("2") else ""
        yield f"<details{is_open}><summary>{label} <span class=soft>{_kind(content['schema'], api)}</span></summary>"
        yield f"{_code(_example(content))}</details>"


def _shapes(api: dict[str, Any]) -> Iterator[str]:
    """All objects that bodies and answers are made of."""
    for name, shape in api["components"]["schemas"].items():
        if "properties" in shape:
            yield f"<section id='{_SHAPE}{name}'><h3>{name}</h3>"
            yield from (f"<p>{_prose(paragraph)}</p>" for paragraph in shape.get("description", "").split("\n\n"))
            yield from _fields(shape, api)
            yield "</section>"


def _kind(schema: dict[str, Any], api: dict[str, Any]) -> str:
    """What a value may be, in a few words, with links to the shapes of objects."""
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(_kind(one, api) for one in schema["anyOf"]))
    if "$ref" in schema:
        target, name = _resolved(schema, api), str(schema["$ref"]).rpartition("/")[2]
        return f"<a href='#{_SHAPE}{name}'>{name}</a>" if "properties" in target else _kind(target, api)
    if "enum" in schema:
        return "one of " + ", ".join(f"<code>{escape(str(one))}</code>" for one in schema["enum"])
    words = escape(str(schema.get("format") or schema.get("type") or "anything"))
    if schema.get("type") == "array":
        words = f"array of {_kind(schema.get('items', {}), api)}"
    bounds = [text.format(_json(schema[key])) for key, text in _BOUNDS.items() if key in schema]
    return words + (f" ({escape(', '.join(bounds))})" if bounds else "")


_SHAPE = "shape-"
_BOUNDS = {
    "minimum": "at least {}",
    "exclusiveMinimum": "more than {}",
    "maximum": "at most {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
    "default": "default: {}",
}


def _resolved(schema: dict[str, Any], api: dict[str, Any]) -> dict[str, Any]:
    if "$ref" not in schema:
        return schema
    _, _, kind, name = schema["$ref"].split("/")
    found: dict[str, Any] = api["components"][kind][name]
    return found


def _example(content: dict[str, Any]) -> Any:
    return content["examples"]["example"]["value"]


def _code(example: Any) -> str:
    return f"<pre>{escape(msgspec.json.format(_json(example), indent=2))}</pre>"


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _breakable(path: str) -> str:
    """A path that may wrap at its slashes."""
    return escape(path).replace("/", "/<wbr>")


def _prose(text: str) -> str:
    """Escape a text and render backticks as code."""
    pieces = escape(text, quote=False).split("`")
    return "".join(f"<code>{piece}</code>" if number % 2 else piece for number, piece in enumerate(pieces))
