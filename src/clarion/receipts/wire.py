"""Shapes of the addresses that providers report to."""

from clarion.http.wire import Wire


class ReceiptsAddressOut(Wire):
    url: str
    signed_with: str
