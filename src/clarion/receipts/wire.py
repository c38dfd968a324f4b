"""Shapes of the addresses that providers report to."""

from clarion.http.wire import Wire


class ReceiptsAddressOut(Wire):
    url: str
    """The address to give to the provider for its reports of deliveries."""
    signed_with: str
    """How reports are known to be the provider's."""
