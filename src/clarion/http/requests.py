"""Requests before they are routed, and how their bodies and arguments are read."""

import re
from typing import Any, NamedTuple

from msgspec import Struct
from starlette.types import Receive, Scope

from clarion import errors
from clarion.http.caller import Caller
from clarion.http.input.queries import find_unknown, parse_query
from clarion.http.input.unknown import Contract, InputWarning
from clarion.http.limits import MAX_UNCOUNTED_BYTES, BodyMemory, HeldBody, check_nesting, check_size
from clarion.http.operation import Operation
from clarion.http.preconditions import read_if_match
from clarion.http.static import HeaderList, Headers
from clarion.ids import random_bytes
from clarion.monitoring.traces.tracer import RequestTrace

JSON = b"application/json"
_JSON_TYPES = re.compile(rb"application/(?:[\w.+-]+\+)?json\s*(?:;.*)?", re.IGNORECASE)
_EMPTY_BODIES = (b"", b"{}", b"null")
"""What clients send with operations that take no body."""
_REQUEST_ID = re.compile(rb"[A-Za-z0-9_.:-]{1,128}")


class Request(Struct, kw_only=True):
    method: str
    raw_path: bytes
    query: bytes
    headers: Headers
    request_id: bytes
    address: str
    """Of the client; behind a proxy that is not trusted, that of the proxy."""
    caller: Caller | None = None
    operation: str = "unknown"
    """Its name as metrics have it: of a closed list."""
    held: HeldBody | None = None
    """What the body takes of the memory that is there for bodies."""
    trace: RequestTrace | None = None
    """None unless traces are switched on and the request is sampled."""
    route: str = ""
    """The path of the operation, for traces."""
    response_headers: HeaderList = []
    """More headers for the response, whether it is a result or an error."""
    warnings: list[InputWarning] = []
    """What the response warns of."""

    @property
    def display_path(self) -> str:
        return (self.raw_path + (b"?" + self.query if self.query else b"")).decode("latin-1")


def make_request(scope: Scope) -> Request:
    headers: Headers = dict(scope["headers"])
    own_id = headers.get(b"x-request-id", b"")
    return Request(
        method=scope["method"],
        raw_path=scope.get("raw_path") or scope["path"].encode(),
        query=scope["query_string"],
        headers=headers,
        address=client[0] if (client := scope.get("client")) else "",
        request_id=own_id if _REQUEST_ID.fullmatch(own_id) else b"req_" + random_bytes(16).hex().encode(),
    )


class Arguments(NamedTuple):
    path: list[Any]
    named: dict[str, Any]


def read_arguments(operation: Operation, request: Request, path_texts: list[str], body: bytes) -> Arguments:
    """The arguments of the handler; problems of the query and of the body are reported together."""
    named: dict[str, Any] = {}
    problems: dict[str, list[errors.Problem]] = {}
    try:
        if operation.read_query:
            named["query"] = operation.read_query(request.query, request.warnings)
        if operation.is_conditional:
            named["if_match"] = read_if_match(request.headers)
    except errors.Invalid as error:
        problems |= error.problems
    try:
        if operation.takes_body:
            named |= _read_input(operation, request, body)
    except errors.Invalid as error:
        problems |= error.problems
    if (body and not operation.takes_body) or (request.query and operation.read_query is None):
        problems |= _check_unread(operation, request, body)
    if problems:
        raise errors.Invalid(problems)
    return Arguments(operation.path_values(path_texts), named)


def _read_input(operation: Operation, request: Request, body: bytes) -> dict[str, Any]:
    """The body, as JSON or as a form, by the name of its argument."""
    if operation.read_form:
        content_type = request.headers.get(b"content-type", b"")
        return {"form": operation.read_form(content_type, body, request.warnings)}
    if operation.read_body:
        content = _check_body(operation, request.headers, body)
        return {"body": operation.read_body(content, request.warnings)}
    return {}


def _check_unread(operation: Operation, request: Request, body: bytes) -> dict[str, list[errors.Problem]]:
    """The problems of a query or a body that the operation does not take; in the published contract, warnings."""
    unread: dict[str, list[errors.Problem]] = {}
    if request.query and operation.read_query is None:
        unread |= find_unknown(parse_query(request.query), ())
    if body and not operation.takes_body and body.strip() not in _EMPTY_BODIES:
        unread["body"] = [errors.Problem("is not read by this operation; leave it out")]
    if operation.contract is Contract.PUBLISHED:
        request.warnings.extend(InputWarning(name, problem.message) for name, (problem,) in unread.items())
    return unread if operation.contract is Contract.OWN else {}


def _check_body(operation: Operation, headers: Headers, body: bytes) -> bytes:
    content_type = headers.get(b"content-type")
    if not body and operation.is_body_optional:
        return b"{}"
    if not body:
        raise errors.Malformed("The body is empty; send a JSON object")
    if content_type not in (None, JSON) and not _JSON_TYPES.fullmatch(content_type.strip()):
        raise errors.NotJson("Send the body as JSON, with the header Content-Type: application/json")
    check_nesting(body)
    return body


async def read_body(
    receive: Receive, request: Request, limit: int, memory: BodyMemory, caller: Caller
) -> tuple[bytes, bool]:
    """The body, which is held from now on unless it is small, and whether it came at once."""
    length = request.headers.get(b"content-length", b"0")
    check_size(int(length) if length.isdigit() else 0, limit)
    message = await receive()
    body: bytes = message.get("body", b"")
    is_whole = not message.get("more_body", False)
    if is_whole and len(body) <= MAX_UNCOUNTED_BYTES:
        check_size(len(body), limit)
        return body, True
    held = request.held = memory.open(caller, request.address)
    _hold(held, len(body), limit)
    if is_whole:
        return body, True
    parts = [body]
    while message.get("more_body", False):
        message = await receive()
        parts.append(message.get("body", b""))
        _hold(held, len(parts[-1]), limit)
    if message["type"] == "http.disconnect":
        raise errors.Malformed("The body ended early")
    return b"".join(parts), False


def _hold(held: HeldBody, size: int, limit: int) -> None:
    check_size(held.size + size, limit)
    held.add(size)
