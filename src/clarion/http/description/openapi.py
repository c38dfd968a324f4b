"""The OpenAPI 3.1 description, generated from the types of the operations."""

import inspect
import typing
from collections.abc import Iterable, Sequence
from http import HTTPStatus
from typing import Annotated, Any

import msgspec
from msgspec import Struct

from clarion import __version__
from clarion.http.description.examples import REQUESTS, example_of
from clarion.http.description.schemas import Schemas
from clarion.http.description.texts import PATH_PARAMETERS
from clarion.http.errors import ErrorBody, UnexpectedErrorBody, ValidationErrorBody
from clarion.http.idempotency import MAX_KEY_LENGTH
from clarion.http.input.forms import MULTIPART
from clarion.http.input.queries import list_optional_values
from clarion.http.input.unknown import HEADER_NAME as _WARNINGS
from clarion.http.input.unknown import Contract
from clarion.http.operation import Operation, Transaction
from clarion.http.origins import SESSION_COOKIE
from clarion.http.responses import ImageResponse, PageResponse, RawResponse
from clarion.http.wire import Wire
from clarion.vocabulary import Role

_ABOUT = """Clarion delivers notifications to people in-app and by email, SMS, chat and push.

Everything is scoped to the environment of the API key, which is sent as `Authorization: ApiKey <key>`.
Changes may carry an `idempotency-key`: the same request under the same key is done once, and then answered the same
way again."""

_MEDIA_TYPES = {RawResponse: "text/plain", PageResponse: "text/html"}
_IDEMPOTENCY_KEY = {
    "name": "idempotency-key",
    "in": "header",
    "required": False,
    "description": "Makes a change safe to repeat for 24 hours.",
    "schema": {"type": "string", "maxLength": MAX_KEY_LENGTH},
}
_IF_MATCH = {
    "name": "If-Match",
    "in": "header",
    "required": False,
    "description": "The ETag of what was read: if it has changed since, nothing is done.",
    "schema": {"type": "string"},
}


class _Refusal(Struct, frozen=True):
    """An error response that operations share."""

    name: str
    status: int
    meaning: str
    shape: type[ErrorBody] = ErrorBody


_NO_SESSION = _Refusal("NoSession", 401, "No session, or one that has expired or was ended")
_REFUSALS = {
    one.status: one
    for one in (
        _Refusal("Malformed", 400, "The request is malformed"),
        _Refusal("NoKey", 401, "No, unknown, revoked or expired API key, or no session"),
        _Refusal("Forbidden", 403, "The API key, or the role of the member, lacks the scope"),
        _Refusal("NotFound", 404, "No such thing in this environment"),
        _Refusal("Conflict", 409, "It exists already, or another request is doing the same"),
        _Refusal("Deleted", 410, "It existed, and was deleted"),
        _Refusal("Changed", 412, "It has changed since it was read; `ctx` has its present state"),
        _Refusal("TooLarge", 413, "The body is too large"),
        _Refusal("NotJson", 415, "The body is not JSON, or not a form where one is needed"),
        _Refusal("Invalid", 422, "Fields are not valid; every one is named", ValidationErrorBody),
        _Refusal("RateLimited", 429, "More requests than a rate limit allows; try again after `Retry-After` seconds"),
        _Refusal("Unexpected", 500, "A defect on our side", UnexpectedErrorBody),
        _Refusal("Unavailable", 503, "The store is unreachable or full; try again after `Retry-After` seconds"),
    )
}


def describe_api(operations: Sequence[Operation]) -> bytes:
    """The description as JSON."""
    schemas = _make_schemas(operations)
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation, schemas)
    description = {
        "openapi": "3.1.0",
        "info": {"title": "Clarion", "version": __version__, "description": _ABOUT, "license": {"name": "MIT"}},
        "servers": [{"url": "/"}],
        "security": [{"ApiKey": []}, {"Member": [], "Environment": []}],
        "tags": [{"name": tag} for tag in dict.fromkeys(operation.tag for operation in operations)],
        "paths": paths,
        "components": {
            "schemas": schemas.components,
            "responses": {one.name: _refusal(one, schemas) for one in (*_REFUSALS.values(), _NO_SESSION)},
            "parameters": {"IdempotencyKey": _IDEMPOTENCY_KEY, "IfMatch": _IF_MATCH},
            "headers": _HEADERS,
            "securitySchemes": {
                "ApiKey": {
                    "type": "apiKey",
                    "in": "header",
                    "name": "Authorization",
                    "description": "`ApiKey <key>`",
                },
                "Member": {
                    "type": "apiKey",
                    "in": "cookie",
                    "name": SESSION_COOKIE,
                    "description": "The session of a member who is signed in. Changes must come from a page of this "
                    "server, with the header `Clarion-Environment`, or `X-Clarion: 1` where there is no environment.",
                },
                "Environment": {
                    "type": "apiKey",
                    "in": "header",
                    "name": "Clarion-Environment",
                    "description": "The id or identifier of the environment, if a member calls",
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


def _make_schemas(operations: Sequence[Operation]) -> Schemas:
    results = [one.result for one in operations if one.result not in (None, type(None), ImageResponse, *_MEDIA_TYPES)]
    shapes = [(one.contract, shape) for one in operations for shape in (one.body_shape, one.form_shape)]
    bodies = [(contract, shape) for contract, shape in shapes if shape is not None]
    return Schemas(
        bodies=[
            *(shape for contract, shape in bodies if contract is not Contract.OWN),
            *(kind for one in operations for _, kind in one.path_kinds if _is_annotated(kind)),
        ],
        own_bodies=[shape for contract, shape in bodies if contract is Contract.OWN],
        queries=[one.query_shape for one in operations if one.query_shape is not None],
        results=[ErrorBody, ValidationErrorBody, UnexpectedErrorBody, *results],
    )


def _operation(operation: Operation, schemas: Schemas) -> dict[str, Any]:
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
    elif operation.is_for_members:
        described["security"] = [{"Member": []}]
    elif operation.scope is None:
        described["security"] = []
    else:
        described["x-scope"] = operation.scope
    if operation.is_for_owners:
        described["x-role"] = Role.OWNER
    if operation.limit is not None:
        described["x-rate-limit"] = operation.limit
    if operation.takes_body:
        described["requestBody"] = {
            "required": not operation.is_body_optional,
            "content": _request_body(operation, schemas),
        }
    return described


def _parameters(operation: Operation, schemas: Schemas) -> Iterable[dict[str, Any]]:
    for name, kind in operation.path_kinds:
        description = {"description": PATH_PARAMETERS[name]} if name in PATH_PARAMETERS else {}
        yield {"name": name, "in": "path", "required": True, **description, "schema": _path_schema(kind, schemas)}
    if operation.query_shape is not None:
        may_be_empty = list_optional_values(operation.query_shape)
        for parameter in schemas.parameters_of(operation.query_shape):
            # The empty text is a text among others.
            is_of_texts = parameter["schema"].get("items") == {"type": "string"}
            is_optional = parameter["name"] in may_be_empty and not is_of_texts
            yield parameter | ({"allowEmptyValue": True} if is_optional else {})
    if operation.transaction is Transaction.WRITE and (operation.scope is not None or operation.is_for_subscribers):
        yield {"$ref": "#/components/parameters/IdempotencyKey"}
    if operation.is_conditional:
        yield {"$ref": "#/components/parameters/IfMatch"}


def _path_schema(kind: Any, schemas: Schemas) -> dict[str, Any]:
    if _is_annotated(kind):
        return schemas.of(kind)
    is_id = getattr(kind, "__supertype__", None) is bytes
    return {"type": "string", "format": "uuid"} if is_id else {"type": "string"}


def _is_annotated(kind: Any) -> bool:
    return typing.get_origin(kind) is Annotated


def _responses(operation: Operation, schemas: Schemas) -> dict[str, Any]:
    responses: dict[str, Any] = {}
    warnings = (_WARNINGS,) if operation.contract is Contract.PUBLISHED else ()
    headers = _refer_to_headers(_REQUEST_ID, *warnings, *(() if operation.limit is None else _LIMITS))
    for status in operation.statuses:
        tags = _refer_to_headers(_ETAG) if operation.has_etag else {}
        responses[str(status)] = {"description": HTTPStatus(status).phrase, "headers": headers | tags}
        if operation.result in _MEDIA_TYPES:
            content = {_MEDIA_TYPES[operation.result]: {"schema": {"type": "string"}}}
            responses[str(status)]["content"] = content
        elif status != 204 and operation.result is not ImageResponse:
            # Generators of clients leave out what they cannot read, such as images.
            media_type = "text/event-stream" if operation.is_stream else "application/json"
            responses[str(status)]["content"] = {media_type: _content(operation.result, schemas)}
    for status in _refusals(operation):
        refusal = (
            _NO_SESSION
            if status == 401 and (operation.is_for_subscribers or operation.is_for_members)
            else _REFUSALS[status]
        )
        if operation.result in _MEDIA_TYPES and status in operation.statuses:
            # A page refuses in its own words; what is refused before it is asked is JSON.
            responses[str(status)]["content"] |= _refusal(refusal, schemas)["content"]
        else:
            responses[str(status)] = {"$ref": f"#/components/responses/{refusal.name}"}
    return responses


_REQUEST_ID = "X-Request-Id"
_RETRY_AFTER = "Retry-After"
_ETAG = "ETag"
_RETRIED = (409, 429, 503)
_LIMITS = ("RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "RateLimit-Policy")
_HEADERS: dict[str, Any] = {
    name: {"schema": {"type": kind}, "description": about}
    for name, kind, about in (
        (_REQUEST_ID, "string", "The request's name in the logs"),
        (_RETRY_AFTER, "integer", "Seconds to wait"),
        (_WARNINGS, "string", "Sentences about what was not done as it may be meant, as a JSON array; absent if none"),
        (_ETAG, "string", "Of this state, for `If-Match`"),
        (_LIMITS[0], "integer", "How many requests the tightest limit allows in its time; absent if no limit applies"),
        (_LIMITS[1], "integer", "How many requests are possible now; absent if no limit applies"),
        (_LIMITS[2], "integer", "Seconds until the same request is possible again; absent if no limit applies"),
        (
            _LIMITS[3],
            "string",
            "The limit, its seconds `w`, `burst`, `category` and the `cost` of this request; absent without a limit",
        ),
    )
}


def _refer_to_headers(*names: str) -> dict[str, Any]:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


def _refusal(refusal: _Refusal, schemas: Schemas) -> dict[str, Any]:
    more = [
        *(_LIMITS if refusal.status == 429 else ()),
        *((_RETRY_AFTER,) if refusal.status in _RETRIED else ()),
        *((_ETAG,) if refusal.status == 412 else ()),
    ]
    content = {"schema": schemas.of(refusal.shape), "examples": _examples(_refusal_example(refusal))}
    return {
        "description": refusal.meaning,
        "headers": _refer_to_headers(_REQUEST_ID, *more),
        "content": {"application/json": content},
    }


def _refusals(operation: Operation) -> list[int]:
    statuses = {500, 503, *operation.refusals} | ({412} if operation.is_conditional else set())
    if operation.scope is not None:
        statuses |= {401, 403, 413}
    if operation.is_for_subscribers:
        statuses |= {401, 413}
    if operation.is_for_members:
        statuses |= {401, 403, 413}
    if operation.limit is not None:
        statuses.add(429)
    if operation.transaction is Transaction.NONE and operation.scope is None:
        # These authenticate by the content of the request, such as a signature.
        statuses |= {400, 401, 413}
    if operation.path_kinds:
        statuses.add(404)
    return sorted(statuses | _refusals_of_input(operation))


def _refusals_of_input(operation: Operation) -> set[int]:
    statuses = {422} if operation.contract is Contract.OWN else set()
    if not operation.is_safe and (operation.scope is not None or operation.is_for_subscribers):
        statuses |= {409, 422}
    if operation.query_shape is not None:
        statuses |= {400, 422}
    if operation.takes_body:
        statuses |= {400, 404, 413, 415, 422}
    return statuses


def _request_body(operation: Operation, schemas: Schemas) -> dict[str, Any]:
    if operation.body_shape is not None:
        return {"application/json": _request_content(operation.body_shape, schemas)}
    return {MULTIPART: {"schema": schemas.of(operation.form_shape)}}


def _request_content(shape: type[Wire], schemas: Schemas) -> dict[str, Any]:
    example = REQUESTS.get(shape.__name__)
    return {"schema": schemas.of(shape), "examples": _examples(example_of(shape) if example is None else example)}


def _content(kind: Any, schemas: Schemas) -> dict[str, Any]:
    return {"schema": schemas.of(kind), "examples": _examples(example_of(kind))}


def _examples(value: Any) -> dict[str, Any]:
    # Not `example`: generators of clients repeat that one in comments.
    return {"example": {"value": value}}


def _refusal_example(refusal: _Refusal) -> dict[str, Any]:
    body: dict[str, Any] = {
        "statusCode": refusal.status,
        "timestamp": "2026-01-31T09:30:00.000Z",
        "path": "/v2/subscribers/ada",
        "message": refusal.meaning,
        "error": HTTPStatus(refusal.status).phrase,
    }
    if refusal.status == 422:
        body["errors"] = {"email": {"messages": ["must be an e-mail address such as ada@example.com"], "value": "ada"}}
    if refusal.status == 500:
        body["errorId"] = "5f0a4c1e-5d55-4a53-9a53-0a8a5b0f7d11"
    return body
