"""Shapes of test e-mails."""

from typing import Annotated, Any

from msgspec import Meta

from clarion.http.wire import EmailText, Wire
from clarion.integrations.wire import TestMessageOut
from clarion.workflows.preview_wire import PreviewIn


class TestEmailIn(PreviewIn):
    """An e-mail step that need not be saved, nor its workflow: its controls, the variables, and where to send it.

    The payload gets the defaults of `payloadSchema`, as that of a trigger does if the workflow validates payloads.
    """

    payload_schema: dict[str, Any] | None = None
    workflow_id: str | None = None
    """The identifier, `_id` or slug of the workflow whose translations `t` has; without it, there are none."""
    to: EmailText | None = None
    """The address to send to, which API keys must name; members get it at their own address, and at no other."""
    integration_id: Annotated[str, Meta(max_length=255)] | None = None
    """The identifier or `_id` of the active e-mail integration to send through; without it, the one that is first for
    e-mails whose conditions hold."""


class TestEmailOut(Wire):
    """The result of a test e-mail."""

    to: str
    """The address that it was sent to."""
    integration: str
    """The identifier of the integration that sent it."""
    result: TestMessageOut
    """What the provider answered."""
