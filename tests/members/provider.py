"""A real OpenID Connect provider in a process of its own."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import httpx

from tests.servers import free_port

PEOPLE = (
    {"sub": "ada", "email": "ada@example.com", "email_verified": True, "name": "Ada"},
    {"sub": "bob", "email": "Bob@Example.com", "email_verified": True, "name": "Bob"},
    {"sub": "kim", "email": "kim@partner.example", "email_verified": True},
    {"sub": "zoe", "email": "zoe@elsewhere.example", "email_verified": True},
    {"sub": "eve", "email": "ada@example.com", "email_verified": False},
    {"sub": "una", "email": "ada@example.com"},
    {"sub": "max", "email": "ada@example.com", "xms_edov": True, "name": "Max"},
    {"sub": "sam", "email": "ada@example.com", "xms_edov": "0"},
    {"sub": "bot"},
)


@contextmanager
def run_provider() -> Iterator[str]:
    """Start it; yields the address."""
    address = f"http://127.0.0.1:{free_port()}"
    command = [sys.executable, "-m", "oidc_provider_mock", "--port", address.rpartition(":")[2]]
    for person in PEOPLE:
        command += ["--user-claims", json.dumps(person)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            while process.poll() is None and not _is_ready(address):
                time.sleep(0.05)
            yield address
        finally:
            process.terminate()


def _is_ready(address: str) -> bool:
    try:
        return httpx.get(f"{address}/.well-known/openid-configuration").status_code == 200
    except httpx.ConnectError:
        return False
