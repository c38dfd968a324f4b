"""The OpenAPI 3.1 description, generated from the types of the operations."""

import inspect
import re
from collections.abc import Iterable, Sequence
from http import HTTPStatus
from typing import Any

import msgspec

from clarion import __version__
from clarion.http.bodies import ErrorBody, UnexpectedErrorBody, ValidationErrorBody
from clarion.http.examples import example_of
from clarion.http.idempotency import MAX_KEY_LENGTH
from clarion.http.operation import Operation, RawResponse, Transaction
from clarion.http.queries import list_optional_values
from clarion.http.wire import CheckedText, Wire

_ABOUT = """Clarion delivers notifications to people in-app and by email, SMS, chat and push.

Everything is scoped to the environment of the API key, which is sent as `Authorization: ApiKey <key>`.
Changes may carry an `idempotency-key`: the same request under the same key is done once, and then answered the same
way again."""

_IDEMPOTENCY_KEY = {
    "name": "idempotency-key",
    "in": "header",
    "required": False,
    "description": "Makes a change safe to repeat for 24 hours.",
    "schema": {"type": "string", "maxLength": MAX_KEY_LENGTH},
}
_IGNORED_KEY = _IDEMPOTENCY_KEY | {"description": "Ignored: reading is safe to repeat.", "schema": {"type": "string"}}
_UNUSED_KEY = _IGNORED_KEY | {"description": "Ignored: this is done each time."}
_MEANINGS = {
    400: "The request is malformed",
    401: "No, unknown, revoked or expired API key",
    403: "The API key lacks the scope",
    404: "No such thing in this environment",
    409: "It exists already, or the idempotency key is being worked on",
    413: "The body is too large",
    415: "The body is not JSON",
    422: "Fields are not valid; every one is named",
    429: "More requests than a rate limit allows; try again after `Retry-After` seconds",
    500: "A defect on our side",
    503: "The store is unreachable or full; try again after `Retry-After` seconds",
}
_NO_SESSION = "No session, or one that has expired or was ended"


def describe_api(operations: Sequence[Operation]) -> bytes:
    """The description as JSON."""
    schemas = _Schemas(operations)
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation, schemas)
    description = {
        "openapi": "3.1.0",
        "info": {"title": "Clarion", "version": __version__, "description": _ABOUT, "license": {"name": "MIT"}},
        "servers": [{"url": "/"}],
        "security": [{"ApiKey": []}],
        "tags": [{"name": tag} for tag in dict.fromkeys(operation.tag for operation in operations)],
        "paths": paths,
        "components": {
            "schemas": schemas.components,
            "headers": _LIMIT_HEADERS,
            "securitySchemes": {
                "ApiKey": {
                    "type": "apiKey",
                    "in": "header",
                    "name": "Authorization",
                    "description": "`ApiKey <key>`",
                },
                "Session": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "The token of a subscriber's session",
                },
            },
        },
    }
    return msgspec.json.format(msgspec.json.encode(description), indent=2) + b"\n"


class _Schemas:
    """The schemas of all types. Shared ones become components; those of queries become parameters."""

    def __init__(self, operations: Sequence[Operation]) -> None:
        shapes = [shape for one in operations for shape in (one.body_shape, one.query_shape, one.result)]
        kinds = {repr(kind): kind for kind in (ErrorBody, ValidationErrorBody, UnexpectedErrorBody, *shapes)}
        wanted = {name: kind for name, kind in kinds.items() if kind not in (None, type(None), RawResponse)}
        found, components = msgspec.json.schema_components(
            wanted.values(), schema_hook=_text_schema, ref_template="#/components/schemas/{name}"
        )
        self._found = dict(zip(wanted, found, strict=True))
        queries = {_component(self.of(one.query_shape)) for one in operations if one.query_shape}
        self._queries = {name: components[name] for name in queries}
        self.components = {name: schema for name, schema in components.items() if name not in queries}

    def of(self, kind: Any) -> dict[str, Any]:
        return self._found[repr(kind)]

    def parameters_of(self, shape: type[Wire]) -> dict[str, Any]:
        schema: dict[str, Any] = self._queries[_component(self.of(shape))]
        return schema


def _operation(operation: Operation, schemas: _Schemas) -> dict[str, Any]:
    summary, _, more = (inspect.getdoc(operation.handler) or "").partition("\n")
    described: dict[str, Any] = {
        "operationId": operation.handler.__name__,
        "summary": summary,
        "tags": [operation.tag],
        "parameters": list(_parameters(operation, schemas)),
        "responses": _responses(operation, schemas),
    }
    if more.strip():
        described["description"] = more.strip()
    if operation.is_for_subscribers:
        described["security"] = [{"Session": []}]
    elif operation.scope is None:
        described["security"] = []
    else:
        described["x-scope"] = operation.scope
    if operation.limit is not None:
        described["x-rate-limit"] = operation.limit
    if operation.body_shape is not None:
        described["requestBody"] = {
            "required": not operation.is_body_optional,
            "content": {"application/json": _content(operation.body_shape, schemas)},
        }
    return described


def _parameters(operation: Operation, schemas: _Schemas) -> Iterable[dict[str, Any]]:
    for name, kind in operation.path_kinds:
        is_id = getattr(kind, "__supertype__", None) is bytes
        schema = {"type": "string", "format": "uuid"} if is_id else {"type": "string"}
        yield {"name": name, "in": "path", "required": True, "schema": schema}
    if operation.query_shape is not None:
        shape = schemas.parameters_of(operation.query_shape)
        may_be_empty = list_optional_values(operation.query_shape)
        for name, schema in shape["properties"].items():
            parameter = {"name": name, "in": "query", "required": name in shape.get("required", ()), "schema": schema}
            yield parameter | ({"allowEmptyValue": True} if name in may_be_empty else {})
    if operation.scope is not None or operation.is_for_subscribers:
        yield _idempotency_key(operation)


def _idempotency_key(operation: Operation) -> dict[str, Any]:
    if operation.is_safe:
        return _IGNORED_KEY
    return _UNUSED_KEY if operation.transaction is Transaction.NONE else _IDEMPOTENCY_KEY


def _responses(operation: Operation, schemas: _Schemas) -> dict[str, Any]:
    responses: dict[str, Any] = {}
    headers = _HEADERS if operation.limit is None else _HEADERS | _LIMITS
    for status in operation.statuses:
        responses[str(status)] = {"description": HTTPStatus(status).phrase, "headers": headers}
        if operation.result is RawResponse:
            responses[str(status)]["content"] = {"text/plain": {"schema": {"type": "string"}}}
        elif status != 204:
            responses[str(status)]["content"] = {"application/json": _content(operation.result, schemas)}
    for status in _refusals(operation):
        shape = {422: ValidationErrorBody, 500: UnexpectedErrorBody}.get(status, ErrorBody)
        content = _content(shape, schemas) | {"example": _refusal_example(operation, status)}
        responses[str(status)] = {
            "description": _meaning(operation, status),
            "headers": (headers if status == 429 else _HEADERS) | (_RETRY if status in _RETRIED else {}),
            "content": {"application/json": content},
        }
    return responses


_HEADERS: dict[str, Any] = {
    "X-Request-Id": {"schema": {"type": "string"}, "description": "The request's name in the logs"}
}
_RETRY: dict[str, Any] = {"Retry-After": {"schema": {"type": "integer"}, "description": "Seconds to wait"}}
_RETRIED = (409, 429, 503)
_LIMIT_HEADERS: dict[str, Any] = {
    name: {"schema": {"type": kind}, "description": f"{about}; absent if no limit applies"}
    for name, kind, about in (
        ("RateLimit-Limit", "integer", "How many requests the tightest limit allows in its time"),
        ("RateLimit-Remaining", "integer", "How many requests are possible now"),
        ("RateLimit-Reset", "integer", "Seconds until the same request is possible again"),
        (
            "RateLimit-Policy",
            "string",
            "The limit, its seconds `w`, `burst`, `category` and the `cost` of this request",
        ),
    )
}
_LIMITS: dict[str, Any] = {name: {"$ref": f"#/components/headers/{name}"} for name in _LIMIT_HEADERS}


def _refusals(operation: Operation) -> list[int]:
    found = {500, 503}
    if operation.scope is not None:
        found |= {401, 403, 413}
    if operation.is_for_subscribers:
        found |= {401, 413}
    if operation.limit is not None:
        found.add(429)
    if operation.transaction is Transaction.NONE and operation.scope is None:
        # These authenticate by the content of the request, such as a signature.
        found |= {400, 401, 413}
    if operation.path_kinds:
        found.add(404)
    return sorted(found | _refusals_of_input(operation))


def _refusals_of_input(operation: Operation) -> set[int]:
    found = set()
    if not operation.is_safe and (operation.scope is not None or operation.is_for_subscribers):
        found |= {409, 422}
    if operation.query_shape is not None:
        found |= {400, 422}
    if operation.body_shape is not None:
        found |= {400, 404, 413, 415, 422}
    return found


def _meaning(operation: Operation, status: int) -> str:
    return _NO_SESSION if status == 401 and operation.is_for_subscribers else _MEANINGS[status]


def _content(kind: Any, schemas: _Schemas) -> dict[str, Any]:
    return {"schema": schemas.of(kind), "example": example_of(kind)}


def _refusal_example(operation: Operation, status: int) -> dict[str, Any]:
    body: dict[str, Any] = {
        "statusCode": status,
        "timestamp": "2026-01-31T09:30:00.000Z",
        "path": re.sub(r"\{\w+\}", "ada", operation.path),
        "message": _meaning(operation, status),
        "error": HTTPStatus(status).phrase,
    }
    if status == 422:
        body["errors"] = {"email": {"messages": ["must be an e-mail address such as ada@example.com"], "value": "ada"}}
    if status == 500:
        body["errorId"] = "5f0a4c1e-5d55-4a53-9a53-0a8a5b0f7d11"
    return body


def _text_schema(kind: type) -> dict[str, Any]:
    """The schema of a CheckedText, as a hook for msgspec."""
    if not issubclass(kind, CheckedText):
        raise NotImplementedError(kind)
    schema: dict[str, Any] = {"type": "string", "description": kind.RULE, "examples": [kind.EXAMPLE]}
    return schema | ({"format": kind.FORMAT} if kind.FORMAT else {})


def _component(schema: dict[str, Any]) -> str:
    return str(schema["$ref"]).rpartition("/")[2]
