"""The one mapper from exceptions to error bodies."""

from http import HTTPStatus
from typing import Any

import msgspec

from clarion import errors
from clarion.clock import Millis, iso_text

STATUS: dict[type[errors.ClarionError], int] = {
    errors.Malformed: 400,
    errors.Unauthenticated: 401,
    errors.Forbidden: 403,
    errors.NotFound: 404,
    errors.NoSuchRoute: 404,
    errors.MethodNotAllowed: 405,
    errors.AlreadyExists: 409,
    errors.InProgress: 409,
    errors.TooLarge: 413,
    errors.NotJson: 415,
    errors.Invalid: 422,
    errors.StoreUnavailable: 503,
}

_MOST_OF_A_VALUE = 200


def status_of(error: errors.ClarionError) -> int:
    return STATUS[type(error)]


def error_body(error: errors.ClarionError, *, path: str, now: Millis) -> bytes:
    """The body that the caller reads."""
    status = status_of(error)
    message = str(error) if isinstance(error, errors.RequestError) else "The service cannot do this now; try again"
    body = _shape(status, message, path, now)
    if isinstance(error, errors.RequestError) and error.ctx:
        body["ctx"] = dict(error.ctx)
    if isinstance(error, errors.Invalid):
        body["errors"] = {name: _field(problems) for name, problems in error.problems.items()}
    return msgspec.json.encode(body)


def unexpected_body(error_id: str, *, path: str, now: Millis) -> bytes:
    """What a defect looks like from outside: an id to quote, and nothing else."""
    message = "Something went wrong on our side; the log has it under this errorId"
    return msgspec.json.encode(_shape(500, message, path, now) | {"errorId": error_id})


def error_headers(error: errors.ClarionError) -> list[tuple[bytes, bytes]]:
    if isinstance(error, errors.InProgress | errors.StoreUnavailable):
        return [(b"retry-after", b"1")]
    if isinstance(error, errors.Unauthenticated):
        return [(b"www-authenticate", b"ApiKey")]
    if isinstance(error, errors.MethodNotAllowed):
        return [(b"allow", ", ".join(error.allowed).encode())]
    return []


def _shape(status: int, message: str, path: str, now: Millis) -> dict[str, Any]:
    return {
        "statusCode": status,
        "timestamp": iso_text(now),
        "path": path,
        "message": message,
        "error": HTTPStatus(status).phrase,
    }


def _field(problems: list[errors.Problem]) -> dict[str, Any]:
    entry: dict[str, Any] = {"messages": [problem.message for problem in problems]}
    if problems[0].value is not None:
        entry["value"] = _shortened(problems[0].value)
    return entry


def _shortened(value: Any) -> Any:
    text = msgspec.json.encode(value).decode()
    return value if len(text) <= _MOST_OF_A_VALUE else text[:_MOST_OF_A_VALUE] + "…"
