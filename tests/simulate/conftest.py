"""The engine of the tests, to compare simulations with what happens."""

import pytest

from clarion.db import sandbox
from tests.engine.conftest import _log_no_errors, logged_errors, world

__all__ = ["_log_no_errors", "logged_errors", "world"]


@pytest.fixture(autouse=True)
def _do_not_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many simulations follow each other here, and nothing else is disturbed."""
    for name in ("ALLOWANCE", "ALLOWANCE_OF_ALL"):
        monkeypatch.setattr(sandbox, name, float("inf"))
