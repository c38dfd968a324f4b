"""The shapes of error bodies."""

from typing import Any

from msgspec import UNSET, UnsetType

from clarion.http.wire import DateTimeText, Wire


class FieldErrors(Wire):
    messages: list[str]
    value: Any | UnsetType = UNSET


class ErrorBody(Wire):
    """The body of every error response; `ctx` has further details, if there are any."""

    status_code: int
    timestamp: DateTimeText
    path: str
    message: str
    error: str
    ctx: dict[str, Any] | UnsetType = UNSET


class ValidationErrorBody(ErrorBody):
    """Fields that are not valid, by path."""

    errors: dict[str, FieldErrors]


class UnexpectedErrorBody(ErrorBody):
    """An unexpected error: quote `errorId`, the log has the details."""

    error_id: str


class PayloadViolation(Wire):
    field: str
    message: str
    value: Any | UnsetType = UNSET
    schema_path: str | UnsetType = UNSET


class PayloadErrorBody(ErrorBody):
    """The payload of a trigger violates the schema of its workflow."""

    type: str
    errors: list[PayloadViolation]
