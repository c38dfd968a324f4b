"""The running service answers what its own description says: Schemathesis tries all operations, alone and in sequences.

Between the databases each operation is tried a few times. `make fuzz` tries all of them on both, and for longer.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest
from msgspec import Struct

from tests.fuzzing import EXAMPLES
from tests.processes import Process, Start

ROOT = Path(__file__).parents[2]
COMMAND = Path(sys.executable).parent / "schemathesis"
SHORT_SEQUENCES = 10
APPLICATION = "fuzzed"
# A short run tries these sections on SQLite, and all others on PostgreSQL: about half of the operations each.
ON_SQLITE = ("Inbox", "Preferences", "Topics", "Triggers", "Workflows", "Notifications", "Suppressions")
CONFIGURATION = """
hooks = "tests.contract.schemathesis_hooks"

[auth.openapi.ApiKey]
api_key = "ApiKey {key}"

[auth.dynamic.openapi.Session]
path = "/v1/inbox/session"
payload = {{ applicationIdentifier = "{application}", subscriberId = "ada" }}
extract_selector = "/data/token"
retry_on = [401]

# Rules that no schema can say, such as that a workflow exists, are reported as 400 or 422.
[checks.positive_data_acceptance]
expected-statuses = ["2xx", 400, 401, 403, 404, 409, 412, 422, 429]

# Its response does not end by itself.
[[operations]]
include-path = "/v1/runs/stream"
enabled = false

[phases.stateful.generation]
max-examples = {sequences}
"""


class Target(Struct, frozen=True):
    address: str
    key: str

    def get(self, path: str) -> httpx.Response:
        return httpx.get(self.address + path, headers={"Authorization": f"ApiKey {self.key}"})

    def list_protected(self) -> list[str]:
        """The ids of what the run needs: the environment, the key, and the integration of the inbox."""
        integrations = [one for one in self.get("/v1/integrations").json() if one["channel"] == "in_app"]
        found = [self.get("/v1/environments/me").json(), *self.get("/v1/environments/api-keys").json(), *integrations]
        return [one["_id"] for one in found]


@pytest.fixture
def target(start: Start, store: list[str]) -> Target:
    process: Process = start(
        "serve",
        *store,
        CLARION_DEVELOPMENT_APP_ID=APPLICATION,
        # That invalid keys get 401 is one of the things that it tries.
        CLARION_FAILED_KEYS_PER_MINUTE="0",
        CLARION_LOG_LEVEL="error",
    )
    return Target(process.address, process.keys["Development"])


def options(store: list[str], description: dict[str, Any]) -> list[str]:
    if EXAMPLES:
        return ["--phases", "examples,coverage,fuzzing,stateful", "--max-examples", str(EXAMPLES)]
    tags = [one["name"] for one in description["tags"]]
    chosen = [tag for tag in tags if (tag in ON_SQLITE) is ("--database-url" not in store)]
    included = [word for tag in chosen for word in ("--include-tag", tag)]
    return ["--phases", "examples,fuzzing,stateful", "--max-examples", "1", "--no-shrink", *included]


def test_no_request_has_an_undocumented_answer(target: Target, store: list[str], tmp_path: Path) -> None:
    configuration = tmp_path / "schemathesis.toml"
    sequences = 5 * EXAMPLES or SHORT_SEQUENCES
    configuration.write_text(CONFIGURATION.format(key=target.key, application=APPLICATION, sequences=sequences))
    description = json.loads(httpx.get(f"{target.address}/openapi.json").content)
    protected = target.list_protected()

    run = subprocess.run(
        [
            *(str(COMMAND), "--config-file", str(configuration), "run", f"{target.address}/openapi.json"),
            *("--checks", "all", "--warnings", "off", "--continue-on-failure"),
            *options(store, description),
        ],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT), "CLARION_FUZZ_PROTECTED": ",".join(protected)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert run.returncode == 0, run.stdout + run.stderr
    assert set(protected) <= set(target.list_protected()), "it has taken away what it needs"
