"""The shapes of error bodies."""

from typing import Any

from msgspec import UNSET, UnsetType

from clarion.http.wire import DateTimeText, Wire


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
