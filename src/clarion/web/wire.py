"""Shapes of the demo page's requests."""

from clarion.http.wire import Wire


class DemoState(Wire):
    """What the page shows."""

    environment: str
    application_identifier: str
    subscriber_id: str
    needs_hash: bool


class DemoTriggered(Wire):
    transaction_id: str
