"""Shapes of test requests."""

from typing import Any

from msgspec import UNSET, UnsetType

from clarion.http.wire import Wire
from clarion.workflows.preview_wire import PreviewIn


class TestRequestIn(PreviewIn):
    """An HTTP step that need not be saved, nor its workflow: its controls and the variables."""


class TestRequestOut(Wire):
    """The result of a test request."""

    method: str
    """The method that was used."""
    url: str
    """The URL that was called, without its query and secrets."""
    ok: bool
    """Whether the status was 2xx, and the body as it has to be."""
    status: int | None
    """The status of the answer; null if there was none."""
    headers: dict[str, str]
    """The headers of the answer that later steps see, by names in lower case."""
    body: Any
    """The body of the answer as later steps see it."""
    error: str | UnsetType = UNSET
    """Why there is no answer, or why it is none that a run would go on with."""
    violations: list[str] | UnsetType = UNSET
    """Where the body does not fit the schema of the step; absent if it does, or there is none."""
    milliseconds: int
    """How long the answer took."""
