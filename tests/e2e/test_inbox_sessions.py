"""Sessions of the inbox with real processes and the command line."""

import base64
import hashlib
import hmac
import socket
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from tests.processes import Start

Run = Callable[..., Any]
APPLICATION = "an-application"
OLD = f"old:{base64.b64encode(bytes(32)).decode()}"
NEW = f"new:{base64.b64encode(b'n' * 32).decode()}"
PROBE = "/v1/inbox/preferences/global"


def body(key: str) -> dict[str, Any]:
    signed = hmac.new(key.encode(), b"ada", hashlib.sha256).hexdigest()
    return {"applicationIdentifier": APPLICATION, "subscriber": {"subscriberId": "ada"}, "subscriberHash": signed}


async def test_hashes_hold_through_a_rotation_and_the_command_line_ends_sessions(
    start: Start, run_command: Run, store: list[str]
) -> None:
    given = {"CLARION_DEVELOPMENT_APP_ID": APPLICATION}
    first = start("serve", *store, **given, CLARION_ENCRYPTION_KEYS=OLD)
    made = run_command("keys", "create", "--environment", "Development", *store, CLARION_ENCRYPTION_KEYS=OLD)
    key = made.stdout.split()[-1]
    wrong_vault = run_command("keys", "create", "--environment", "Development", *store, CLARION_ENCRYPTION_KEYS=NEW)
    async with first.client(first.keys["Development"]) as client:
        (inbox,) = (await client.get("/v1/integrations")).json()
        await client.put(f"/v1/integrations/{inbox['_id']}", json={"credentials": {"hmac": True}})
        statuses = [(await client.post("/v1/inbox/session", json=body(one))).status_code for one in (key, "ck_wrong")]
    first.stop()
    rotated = run_command("encryption", "rotate", *store, CLARION_ENCRYPTION_KEYS=f"{NEW},{OLD}")

    second = start("serve", *store, **given, CLARION_ENCRYPTION_KEYS=NEW)
    async with second.client(key) as client:
        token = (await client.post("/v1/inbox/session", json=body(key))).json()["data"]["token"]
        headers = {"Authorization": f"Bearer {token}"}
        before = (await client.get(PROBE, headers=headers)).status_code
        ended = run_command("sessions", "end", "--environment", APPLICATION, *store)
        after = (await client.get(PROBE, headers=headers)).status_code

    assert (wrong_vault.returncode, "does not have" in wrong_vault.stderr) == (2, True)
    assert (statuses, rotated.returncode) == ([201, 400], 0)
    assert (before, ended.returncode, after) == (200, 0, 401)
    assert "Development" in ended.stdout


def test_a_page_can_read_what_the_server_refuses_before_it_is_a_request(start: Start, store: list[str]) -> None:
    process = start("serve", *store)

    def send(head: bytes) -> bytes:
        address = urlsplit(process.address)
        with socket.create_connection((address.hostname, address.port), timeout=10) as connection:
            connection.sendall(head)
            return connection.recv(65536).lower()

    preflight = send(b"OPTIONS /v1/inbox/session HTTP/1.1\r\nHost: x\r\nOrigin: https://a.example\r\n\r\n")
    too_large = send(b"GET /v1/inbox/x HTTP/1.1\r\nHost: x\r\n" + b"X-A: b\r\n" * 200 + b"\r\n")
    malformed = send(b"NOT HTTP\r\n\r\n")

    assert preflight.startswith(b"http/1.1 204")
    assert b"transfer-encoding" not in preflight
    for answer, status in ((preflight, b"204"), (too_large, b"431"), (malformed, b"400")):
        assert answer.split()[1] == status
        assert answer.count(b"access-control-allow-origin: *\r\n") == 1
