"""`clarion demo` as a process beside `clarion serve` on the same SQLite store."""

import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import httpx

from clarion.demo.filling import NotEmpty
from clarion.demo.people import PEOPLE
from clarion.errors import SettingsError
from tests.cli.support import run_here
from tests.processes import COMMAND, Start, clean_environ

RunCommand = Callable[..., "subprocess.CompletedProcess[str]"]


def begin_demo(environ: dict[str, str], temporary: Path) -> None:
    """Start the demo, and kill it when it is at work in its temporary store."""
    process = subprocess.Popen(
        [*COMMAND, "demo"],
        env=clean_environ(environ | {"TMPDIR": str(temporary)}),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        while not list(temporary.glob("clarion-demo-*/clarion.db")):
            assert process.poll() is None
            time.sleep(0.01)
    finally:
        process.kill()
        process.wait()


def count_people(client: httpx.Client) -> int:
    response = client.get("/v2/subscribers", params={"limit": 100})
    assert response.status_code == 200, response.text
    return len(response.json()["data"])


def trigger_code(client: httpx.Client) -> str:
    """Trigger a workflow of the demo, and return the text message that the outbox has then."""
    trigger = {"name": "sign-in-code", "to": "ada", "payload": {"code": "123456"}, "transactionId": "mine"}
    assert client.post("/v1/events/trigger", json=trigger).json()["status"] == "processed"
    while not (found := client.get("/v1/outbox", params={"channel": "sms"}).json()["data"]):
        time.sleep(0.01)
    return str(found[0]["content"])


def test_the_demo_fills_a_store_that_is_served_and_a_kill_leaves_it_empty(
    start: Start, run_command: RunCommand, tmp_path: Path
) -> None:
    (temporary := tmp_path / "temporary").mkdir()
    environ = {"CLARION_DATA_DIR": str(tmp_path / "data")}
    options = ["--data-dir", environ["CLARION_DATA_DIR"]]
    server = start("serve", **environ)
    headers = {"Authorization": f"ApiKey {server.keys['Development']}"}
    with httpx.Client(base_url=server.address, headers=headers, timeout=30) as client:
        begin_demo(environ, temporary)
        after_kill = count_people(client)
        done = run_command("demo", **environ)
        people = count_people(client)
        text = trigger_code(client)
        refused = [run_here("demo", *options), run_here("demo", *options, "--environment", "Production")]
        doctor = run_here("doctor", *options)

    assert after_kill == 0
    assert done.returncode == 0, done.stderr
    for part in ("Larkspur Cycles", "/dashboard", "clarion explain --environment Development --subscriber thomas"):
        assert part in done.stdout
    assert people == len(PEOPLE)
    assert text == "123456 is your code for Larkspur Cycles."
    assert [type(one.exception) for one in refused] == [NotEmpty, SettingsError]
    assert doctor.exit_code == 0
    assert "PROBLEM" not in doctor.stdout
