"""Keeps test processes from work that is no part of a test, and tests from depending on their speed."""

import gc
import importlib.util
import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# No test depends on the speed of the machine: examples may take as long as they need on a busy one.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")

# Collecting the tests makes half a million objects that live as long as the process.
gc.disable()

# Reading the authorities of the system takes 50 ms, for each HTTP client and twice in each process that a test starts.
# Tests only talk to this machine, so one authority that signs nothing is enough.
os.environ["SSL_CERT_FILE"] = str(Path(__file__).with_name("authority.pem"))

# httpx tries to import it for each request, and a module that is not there is searched for each time.
if importlib.util.find_spec("sniffio") is None:
    sys.modules["sniffio"] = None  # type: ignore[assignment]


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    gc.collect()
    gc.freeze()
    gc.enable()
