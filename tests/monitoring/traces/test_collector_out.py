"""Traces that cannot be exported: the collector hangs or is not there, or OpenTelemetry is not installed."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from clarion.errors import SettingsError
from clarion.settings.model import Settings
from tests.processes import Start, clean_environ
from tests.providers.loopback import web_server

WITHOUT_EXTRA = """
import sys
sys.modules["opentelemetry"] = None
from clarion.__main__ import main
main()
"""


async def never(_: bytes, __: asyncio.StreamWriter) -> None:
    await asyncio.Event().wait()


async def test_a_collector_that_hangs_or_is_gone_fails_no_request_and_no_stop(start: Start, tmp_path: Path) -> None:
    key = "key-of-the-traced-caller"
    async with web_server(never) as collector:
        process = start(
            "serve",
            *("--data-dir", str(tmp_path)),
            CLARION_DEVELOPMENT_API_KEY=key,
            CLARION_TRACES_ENDPOINT=collector.url(""),
            CLARION_TRACES_SAMPLE="1",
            OTEL_BSP_SCHEDULE_DELAY="10",
        )
        async with process.client(key) as client:
            step = {"name": "Inbox", "type": "in_app", "controlValues": {"body": "x"}}
            workflow = {"name": "Hello", "workflowId": "hello", "active": True, "steps": [step]}
            assert (await client.post("/v2/workflows", json=workflow)).status_code == 201
            trigger = {"name": "hello", "to": "ada"}
            hanging = [await client.post("/v1/events/trigger", json=trigger) for _ in range(20)]
            while not collector.requests:  # noqa: ASYNC110 - the server adds to it
                await asyncio.sleep(0.05)
            await collector.refuse()
            gone = [await client.post("/v1/events/trigger", json=trigger) for _ in range(20)]

    assert {one.status_code for one in (*hanging, *gone)} == {201}
    assert await asyncio.to_thread(process.stop) == 0


def test_without_the_extra_the_message_says_what_to_install(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WITHOUT_EXTRA, "serve", "--data-dir", str(tmp_path)]
    environ = clean_environ({"CLARION_TRACES_ENDPOINT": "http://127.0.0.1:1"})

    done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=60, check=False)

    assert done.returncode == 2
    assert "pip install 'clarion[traces]'" in done.stderr


def test_opentelemetry_is_not_imported_unless_traces_are_on() -> None:
    script = "import sys, clarion.app, clarion.cli.commands; print([m for m in sys.modules if 'opentel' in m])"

    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)

    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("name", "value"),
    [("CLARION_TRACES_SAMPLE", "2"), ("CLARION_TRACES_SAMPLE", "x"), ("CLARION_TRACES_ENDPOINT", "collector:4318")],
)
def test_settings_that_cannot_work_are_refused(name: str, value: str) -> None:
    with pytest.raises(SettingsError, match=name):
        Settings.load({name: value})
