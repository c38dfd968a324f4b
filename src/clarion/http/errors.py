"""Error responses: the shapes of their bodies, and the mapping from exceptions to statuses, headers and bodies."""

from http import HTTPStatus
from typing import Any

from msgspec import UNSET, UnsetType

from clarion import errors
from clarion.clock import Millis, iso_text
from clarion.http.preconditions import etag_headers
from clarion.http.wire import DateTimeText, Wire
from clarion.jsontext import encode_json


class FieldErrors(Wire):
    messages: list[str]
    """What is wrong with the field, one sentence for each problem."""
    value: Any | UnsetType = UNSET
    """What was sent for the field, shortened if it is long; absent if nothing was sent."""


class ErrorBody(Wire):
    """The body of every error response."""

    status_code: int
    """The HTTP status of the response."""
    timestamp: DateTimeText
    """When the error was answered."""
    path: str
    """The path that was called."""
    message: str
    """What went wrong, in words."""
    error: str
    """The HTTP status in words."""
    ctx: dict[str, Any] | UnsetType = UNSET
    """Further details of the error."""


class ValidationErrorBody(ErrorBody):
    """Fields that are not valid, by path."""

    errors: dict[str, FieldErrors]
    """What is wrong with each field, by the path of the field."""


class UnexpectedErrorBody(ErrorBody):
    """An unexpected error: quote `errorId`, the log has the details."""

    error_id: str
    """The id under which the logs have the details."""


class PayloadViolation(Wire):
    field: str
    message: str
    value: Any | UnsetType = UNSET
    schema_path: str | UnsetType = UNSET


class PayloadErrorBody(ErrorBody):
    """The payload of a trigger violates the schema of its workflow."""

    type: str
    errors: list[PayloadViolation]


STATUS: dict[type[errors.ClarionError], int] = {
    errors.Malformed: 400,
    errors.Unauthenticated: 401,
    errors.Forbidden: 403,
    errors.NotFound: 404,
    errors.Gone: 410,
    errors.NoSuchRoute: 404,
    errors.MethodNotAllowed: 405,
    errors.AlreadyExists: 409,
    errors.InProgress: 409,
    errors.InUse: 409,
    errors.PreconditionFailed: 412,
    errors.TooLarge: 413,
    errors.NotJson: 415,
    errors.PayloadInvalid: 400,
    errors.Invalid: 422,
    errors.RateLimited: 429,
    errors.Busy: 503,
    errors.StoreUnavailable: 503,
}

_MAX_VALUE_LENGTH = 200
_NOT_NOW = "The service cannot do this now; try again"
_UNEXPECTED = "Something went wrong on our side; the log has it under this errorId"


def status_of(error: errors.RequestError | errors.StoreUnavailable) -> int:
    return STATUS[type(error)]


def error_body(error: errors.RequestError | errors.StoreUnavailable, *, path: str, now: Millis) -> bytes:
    """The body of an error response."""
    message = str(error) if isinstance(error, errors.RequestError) else _NOT_NOW
    common = _common(status_of(error), message, path, now)
    if isinstance(error, errors.RequestError) and error.ctx:
        common["ctx"] = dict(error.ctx)
    if isinstance(error, errors.Invalid):
        fields = {name: _field(problems) for name, problems in error.problems.items()}
        return encode_json(ValidationErrorBody(**common, errors=fields))
    if isinstance(error, errors.PayloadInvalid):
        violations = [_violation(one) for one in error.violations]
        return encode_json(PayloadErrorBody(**common, type="PAYLOAD_VALIDATION_ERROR", errors=violations))
    return encode_json(ErrorBody(**common))


def unexpected_body(error_id: str, *, path: str, now: Millis) -> bytes:
    """The body for an unexpected exception: an id to quote, and no details."""
    return encode_json(UnexpectedErrorBody(**_common(500, _UNEXPECTED, path, now), error_id=error_id))


def refusal_body(status: int, message: str, now: Millis) -> bytes:
    """The body for a connection that is refused or ended before its request was read."""
    return encode_json(ErrorBody(**_common(status, message, "", now)))


def error_headers(error: errors.RequestError | errors.StoreUnavailable) -> list[tuple[bytes, bytes]]:
    if isinstance(error, errors.InProgress | errors.Busy | errors.StoreUnavailable):
        return [(b"retry-after", b"1")]
    if isinstance(error, errors.RateLimited):
        return [(b"retry-after", str(error.retry_after).encode()), *error.headers]
    if isinstance(error, errors.Unauthenticated):
        return [(b"www-authenticate", error.scheme.encode())]
    if isinstance(error, errors.PreconditionFailed):
        return etag_headers(error.etag)
    if isinstance(error, errors.MethodNotAllowed):
        return [(b"allow", ", ".join(error.allowed).encode())]
    return []


def _common(status: int, message: str, path: str, now: Millis) -> dict[str, Any]:
    return {
        "status_code": status,
        "timestamp": iso_text(now),
        "path": path,
        "message": message,
        "error": HTTPStatus(status).phrase,
    }


def _field(problems: list[errors.Problem]) -> FieldErrors:
    value = problems[0].value
    return FieldErrors(
        messages=[problem.message for problem in problems], value=UNSET if value is None else _truncate(value)
    )


def _violation(violation: Any) -> PayloadViolation:
    value = UNSET if violation.value is None else _truncate(violation.value)
    return PayloadViolation(
        field=violation.field, message=violation.message, value=value, schema_path=violation.schema_path
    )


def _truncate(value: Any) -> Any:
    text = encode_json(value).decode()
    return value if len(text) <= _MAX_VALUE_LENGTH else text[:_MAX_VALUE_LENGTH] + "…"
