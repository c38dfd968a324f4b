"""Large messages are prepared in a thread: the text version of a megabyte of HTML takes most of a second."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from clarion.providers.definition.outgoing import Outgoing

T = TypeVar("T")

MAX_LOOP_CHARACTERS = 32 * 1024


async def run_by_size(outgoing: Outgoing, prepare: Callable[[], T]) -> T:
    """Prepare a message in the event loop, or in a thread if its content is large."""
    if len(outgoing.content) <= MAX_LOOP_CHARACTERS:
        return prepare()
    return await asyncio.to_thread(prepare)
