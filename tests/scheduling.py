"""How parallel test workers share the tests: `pytest -n 2` and `make test`."""

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

# These tests kill processes at certain moments. Two of them at the same time would delay each other.
ONE_WORKER = ("tests/chaos/", "tests/hostile/", "tests/e2e/test_processes.py", "tests/monitoring/test_prometheus.py")
# These share a browser and a service on each database.
BROWSER = "tests/browser/"


class Scheduling(LoadScopeScheduling):  # type: ignore[misc]
    """Gives the tests that kill processes to one worker, and those in a browser to one; others to the next free worker.

    xdist's own `loadgroup` does this by marks, but it has no effect with pytest 9.2 (pytest-xdist issue 1386).
    """

    def _split_scope(self, nodeid: str) -> str:
        if nodeid.startswith(BROWSER):
            return "browser"
        return "one worker" if nodeid.startswith(ONE_WORKER) else nodeid


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Scheduling:
    return Scheduling(config, log)
