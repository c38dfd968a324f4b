"""A running service on each database, which the hostile tests share."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from tests.hostile.target import KEYS, Target
from tests.processes import Process
from tests.servers import empty_database

TIMEOUTS = {
    "CLARION_HEADER_TIMEOUT_SECONDS": "2",
    "CLARION_BODY_TIMEOUT_SECONDS": "2",
    "CLARION_IDLE_TIMEOUT_SECONDS": "2",
}


@pytest.fixture(scope="session")
async def target(
    backend: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Target]:
    """`clarion serve` with the workflow `greeting` in both environments."""
    folder = tmp_path_factory.mktemp("hostile")
    options = ["--data-dir", str(folder / "data")]
    async with AsyncExitStack() as opened:
        if backend == "postgresql":
            url = await opened.enter_async_context(
                empty_database(*map(request.getfixturevalue, ("postgres_url", "template")))
            )
            options += ["--database-url", url]
        log = folder / "log"
        process = Process(["serve", *options], {**KEYS, "CLARION_LOG_FORMAT": "json"}, log=log)
        opened.callback(process.close)
        target = Target(process, log, options)
        await target.prepare()
        yield target


StartTarget = Callable[..., Target]


@pytest.fixture
def start_target(tmp_path: Path) -> Iterator[StartTarget]:
    """Start `clarion serve` on SQLite with short time-outs and further variables, for one test."""
    running: list[Process] = []

    def start(*, open_files: tuple[int, int] | None = None, **environ: str) -> Target:
        log = tmp_path / f"log-{len(running)}"
        options = ["serve", "--data-dir", str(tmp_path / "data")]
        variables = {**KEYS, **TIMEOUTS, "CLARION_LOG_FORMAT": "json", **environ}
        running.append(Process(options, variables, log=log, open_files=open_files))
        return Target(running[-1], log, options[1:])

    yield start
    for process in running:
        process.close()
