"""Requests that a client sends ahead, before it has the response to an earlier one, and which wait for that."""

import asyncio
from collections.abc import Sized

from uvicorn.protocols.http.flow_control import FlowControl

MAX_PARSED_BYTES = 4 * 1024
"""How much is parsed at once. Each request in it takes memory and time, and the smallest ones have 18 bytes."""


class PipelineFlow(FlowControl):
    """Keeps a connection from being read while requests wait that were sent ahead."""

    def __init__(self, transport: asyncio.Transport, waiting: Sized) -> None:
        super().__init__(transport)
        self._waiting = waiting

    def resume_reading(self) -> None:
        if self.read_paused and not self._waiting:
            super().resume_reading()
