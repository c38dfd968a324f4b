"""The shapes of error bodies."""

from typing import Any

from msgspec import UNSET, UnsetType

from clarion.http.wire import Wire


class FieldErrors(Wire):
    messages: list[str]
    value: Any | UnsetType = UNSET


class ErrorBody(Wire):
    """What every refusal looks like; `ctx` is there when there is more to say."""

    status_code: int
    timestamp: str
    path: str
    message: str
    error: str
    ctx: dict[str, Any] | UnsetType = UNSET


class ValidationErrorBody(ErrorBody):
    """Every bad field by its path."""

    errors: dict[str, FieldErrors]


class UnexpectedErrorBody(ErrorBody):
    """A defect on our side: quote `errorId`, the log has the rest."""

    error_id: str


class PayloadViolation(Wire):
    field: str
    message: str
    value: Any | UnsetType = UNSET
    schema_path: str | UnsetType = UNSET


class PayloadErrorBody(ErrorBody):
    """A trigger whose payload does not fit the schema of its workflow."""

    type: str
    errors: list[PayloadViolation]
