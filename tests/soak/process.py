"""`python -m tests.soak.process serve …`: a Clarion process whose clock runs faster than the machine's."""

import os
import sys
import time

from clarion.cli import serving
from clarion.clock import Millis
from clarion.settings.model import Settings

COMMANDS = {"serve": serving.run_serve, "api": serving.run_api, "worker": serving.run_worker}


PACE = 18
LEAP_MILLIS = 5_000


class FastClock:
    """Runs `factor` times as fast since `start`, which all processes of an installation share.

    It runs at a moderate pace and leaps every five seconds: at the full pace, a lease would be over before its send.
    """

    def __init__(self, start: int, factor: float) -> None:
        self._start = start
        self._factor = factor

    def now(self) -> Millis:
        passed = time.time_ns() // 1_000_000 - self._start
        leaps = passed // LEAP_MILLIS * LEAP_MILLIS * max(0.0, self._factor - PACE)
        return Millis(self._start + int(passed * min(PACE, self._factor) + leaps))


def main() -> None:
    command, data_dir, *url = sys.argv[1:]
    options = {"data_dir": data_dir} | ({"database_url": url[0]} if url else {})
    settings = Settings.load(os.environ, **options)
    COMMANDS[command](settings, FastClock(int(os.environ["SOAK_START"]), float(os.environ["SOAK_FACTOR"])))


if __name__ == "__main__":
    main()
