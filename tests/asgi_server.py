"""An ASGI application on a port of the loopback interface, in this process."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import uvicorn


@asynccontextmanager
async def serve_asgi(application: Any) -> AsyncIterator[int]:
    """Serve the application, and yield its port."""
    server = uvicorn.Server(uvicorn.Config(application, port=0, log_config=None, http="httptools", lifespan="off"))
    listening = server.config.bind_socket()
    server.config.load()
    serving = asyncio.create_task(server._serve([listening]))
    while not server.started:  # noqa: ASYNC110 - uvicorn does not report it
        await asyncio.sleep(0.01)
    yield listening.getsockname()[1]
    server.should_exit = True
    await serving
