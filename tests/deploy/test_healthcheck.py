"""The health check of containers, and the script that makes their secrets."""

import base64
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest

from clarion.healthcheck import main
from clarion.settings.model import Settings
from tests.deploy import files


@contextmanager
def answering(status: int, paths: list[str]) -> Iterator[int]:
    """A server that answers with this status, and its port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            paths.append(self.path)
            self.send_response(status)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(("status", "code"), [(200, 0), (503, 1), (404, 1)])
def test_a_container_is_healthy_while_its_address_answers_200(status: int, code: int) -> None:
    with answering(status, []) as port:
        assert main([f"http://127.0.0.1:{port}/ready"]) == code

    assert main([f"http://127.0.0.1:{port}/ready"]) == 1


def test_the_health_check_finds_the_port_and_uses_no_proxy(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    paths: list[str] = []
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")

    with answering(200, paths) as port:
        monkeypatch.setenv("CLARION_PORT", str(port))
        assert main([]) == 0

    assert paths == ["/v1/health-check"]
    assert main(["nonsense"]) == 1
    assert "nonsense: unknown url type" in capsys.readouterr().err


def test_the_health_check_loads_nothing_of_the_service() -> None:
    code = "import sys, clarion.healthcheck; print([name for name in sys.modules if name.startswith('clarion.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)

    assert done.stdout.strip() == "['clarion.healthcheck']"


def test_the_secrets_of_compose_are_made_once_and_fit_the_settings(tmp_path: Path) -> None:
    script = shutil.copy(files.DEPLOY / "docker" / "make-secrets", tmp_path)
    subprocess.run([script], check=True, capture_output=True, timeout=60)
    made = {path.name: path.read_text() for path in (tmp_path / "secrets").iterdir()}
    subprocess.run([script], check=True, capture_output=True, timeout=60)

    assert {path.name: path.read_text() for path in (tmp_path / "secrets").iterdir()} == made
    assert made.keys() == files.read_compose()["secrets"].keys()
    assert (tmp_path / "secrets").stat().st_mode & 0o777 == 0o700
    assert len(base64.b64decode(made["encryption_keys"].partition(":")[2])) == 32
    environ = files.read_compose()["services"]["api"]["environment"]
    placed = {name: value.replace("/run/secrets", str(tmp_path / "secrets")) for name, value in environ.items()}
    settings = Settings.load(placed)
    assert settings.database_url is not None
    assert made["postgres_password"].strip() in settings.database_url.reveal()
