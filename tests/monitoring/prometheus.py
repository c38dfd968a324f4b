"""A real Prometheus that scrapes one process, and the queries of the dashboard and of the alert rules."""

import json
import math
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from msgspec import Struct, yaml

FOLDER = Path(__file__).parents[2] / "deploy" / "monitoring"
RULES = FOLDER / "alerts.yml"
DASHBOARD = FOLDER / "grafana.json"

CONFIGURATION = """
global: {{scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}}
rule_files: ["{rules}"]
scrape_configs:
  - job_name: clarion
    static_configs: [{{targets: ["127.0.0.1:{port}"]}}]
"""


def find_program(name: str) -> str:
    """Prometheus or promtool beside it; the tests are skipped without, unless CLARION_TEST_PROMETHEUS names it."""
    given = os.environ.get("CLARION_TEST_PROMETHEUS")
    if given:
        found = shutil.which(str(Path(given).with_name(name)))
        assert found, f"CLARION_TEST_PROMETHEUS names {given}, and there is no program {name} beside it"
        return found
    found = shutil.which(name)
    if found is None:
        pytest.skip("There is no Prometheus: install the package prometheus, or set CLARION_TEST_PROMETHEUS to it")
    return found


def list_dashboard_queries() -> dict[str, str]:
    """The queries of all panels by name, with a range in place of Grafana's variable."""
    panels = json.loads(DASHBOARD.read_text())["panels"]
    return {
        f"{panel['title']} {target['refId']}": target["expr"].replace("$__rate_interval", "1m")
        for panel in panels
        for target in panel.get("targets", [])
    }


def list_alert_queries() -> dict[str, str]:
    groups = yaml.decode(RULES.read_bytes())["groups"]
    return {rule["alert"]: rule["expr"] for group in groups for rule in group["rules"]}


class Prometheus(Struct):
    """A running server."""

    address: str

    def query(self, text: str) -> list[dict[str, Any]]:
        """The series of a query at this moment, without those that are not a number."""
        try:
            response = httpx.get(f"{self.address}/api/v1/query", params={"query": text}, timeout=10)
        except httpx.ConnectError:
            # It is still starting.
            return []
        if response.status_code == 503:
            return []
        assert response.status_code == 200, f"{text}: {response.text}"
        found: list[dict[str, Any]] = response.json()["data"]["result"]
        return [one for one in found if not math.isnan(float(one["value"][1]))]


@contextmanager
def prometheus_for(port: int, folder: Path) -> Iterator[Prometheus]:
    """Scrape a port of this machine every second."""
    program, own_port = find_program("prometheus"), free_port()
    file = folder / "prometheus.yml"
    file.write_text(CONFIGURATION.format(rules=RULES, port=port))
    arguments = [f"--config.file={file}", f"--storage.tsdb.path={folder / 'series'}"]
    arguments += [f"--web.listen-address=127.0.0.1:{own_port}", "--log.level=error"]
    with subprocess.Popen([program, *arguments], stderr=subprocess.DEVNULL) as process:
        try:
            yield Prometheus(f"http://127.0.0.1:{own_port}")
        finally:
            process.kill()


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port
