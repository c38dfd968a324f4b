"""`python -m tests.soak.process serve …`: a Clarion process whose clock runs faster than the machine's."""

import os
import sys
import time

from clarion.cli import serving
from clarion.clock import Millis
from clarion.settings import Settings

COMMANDS = {"serve": serving.run_serve, "api": serving.run_api, "worker": serving.run_worker}


class FastClock:
    """Runs `factor` times as fast since `start`, which all processes of an installation share."""

    def __init__(self, start: int, factor: float) -> None:
        self._start = start
        self._factor = factor

    def now(self) -> Millis:
        real = time.time_ns() // 1_000_000
        return Millis(self._start + int((real - self._start) * self._factor))


def main() -> None:
    command, data_dir, *url = sys.argv[1:]
    options = {"data_dir": data_dir} | ({"database_url": url[0]} if url else {})
    settings = Settings.load(os.environ, **options)
    COMMANDS[command](settings, FastClock(int(os.environ["SOAK_START"]), float(os.environ["SOAK_FACTOR"])))


if __name__ == "__main__":
    main()
