"""How parallel test workers share the tests: `pytest -n 2` and `make test`."""

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

# These tests kill processes at certain moments. Two of them at the same time would delay each other.
ONE_WORKER = ("tests/chaos/", "tests/hostile/", "tests/e2e/test_processes.py", "tests/monitoring/test_prometheus.py")
# These share a browser, and a service as long as its database stays the same.
BROWSER = "tests/browser/"
LONG = "tests/browser/dashboard/test_every_page.py"
# These share processes, what the demo made on each database, or a generated client.
SHARING = (
    "tests/contract/test_generated_client.py",
    "tests/demo/",
    "tests/docs/",
    "tests/e2e/test_published_client.py",
)


class Scheduling(LoadScopeScheduling):  # type: ignore[misc]
    """Gives the tests that kill processes to one worker, and so those that share; of those in a browser each file.

    Others go to the next free worker.

    xdist's own `loadgroup` does this by marks, but it has no effect with pytest 9.2 (pytest-xdist issue 1386).
    """

    def _split_scope(self, nodeid: str) -> str:
        if nodeid.startswith(BROWSER) and not nodeid.startswith(LONG):
            return "browser on PostgreSQL" if "[postgresql" in nodeid else nodeid.partition("::")[0]
        shared = [one for one in SHARING if nodeid.startswith(one)]
        if shared:
            return shared[0]
        return "one worker" if nodeid.startswith(ONE_WORKER) else nodeid

    def mark_test_complete(self, node: WorkerController, item_index: int, duration: float = 0) -> None:
        """Forget a unit of work that is done: xdist goes through all units of a worker after each test."""
        super().mark_test_complete(node, item_index, duration)
        scope = self._split_scope(self.registered_collections[node][item_index])
        if all(self.assigned_work[node][scope].values()):
            del self.assigned_work[node][scope]


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Scheduling:
    return Scheduling(config, log)
