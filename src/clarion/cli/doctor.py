"""`clarion doctor`: what is wrong with an installation, and what to do."""

import asyncio
import os
import resource
import sys
from typing import Annotated

import msgspec
import typer
from rich.console import Console

from clarion.cli.installation import Installation, with_installation
from clarion.cli.open_files import choose_max_connections, choose_max_sockets
from clarion.errors import SettingsError
from clarion.monitoring.doctor.checkup import check_installation
from clarion.monitoring.doctor.model import CheckStatus, Finding, fine, warning, worst
from clarion.settings.model import Settings

_FEW_FILES = 4_096
_MARKS = {
    CheckStatus.OK: "[green]ok[/]",
    CheckStatus.WARNING: "[yellow]warning[/]",
    CheckStatus.PROBLEM: "[red]PROBLEM[/]",
}

_console = Console()

Network = Annotated[
    bool, typer.Option("--network", help="Also connect to the hosts of active integrations, and to the mail server.")
]
Full = Annotated[bool, typer.Option("--full", help="Look at every row and page; takes long on a large store.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@with_installation
def doctor(
    installation: Installation,
    *,
    network: Network = False,
    full: Full = False,
    as_json: AsJson = False,
) -> None:
    """Check settings, store, migrations, keys, clocks, queues and rows, and say what to do.

    The exit status is 1 if there is a problem, and 2 if a setting is not valid; warnings alone are 0.
    """
    settings = installation.settings
    findings = asyncio.run(check_installation(settings, os.environ, full=full, network=network))
    findings.append(check_open_files(settings))
    status = worst(findings)
    if as_json:
        typer.echo(msgspec.json.encode({"status": status, "findings": findings}).decode())
    else:
        _show(findings)
    sys.exit(status is CheckStatus.PROBLEM)


def check_open_files(settings: Settings, *, files: int | None = None) -> Finding:
    """Check whether the limit of open files leaves room for clients; a service raises its own to the hard limit."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    allowed = hard if files is None else files
    remedy = "Raise the limit of open files: `ulimit -n 65536`, or LimitNOFILE= of the systemd unit."
    try:
        connections = choose_max_connections(settings, files=allowed)
        choose_max_sockets(settings, connections, files=allowed)
    except SettingsError as error:
        return warning("open files", str(error), remedy)
    if allowed != resource.RLIM_INFINITY and allowed < _FEW_FILES:
        return warning("open files", f"A process may have {allowed} files open: {connections} connections.", remedy)
    return fine("open files", f"Up to {connections} connections of clients are possible.")


def _show(findings: list[Finding]) -> None:
    for one in findings:
        _console.print(f"{_MARKS[one.status]:>8} {one.check}: ", end="")
        _console.print(one.summary, markup=False, highlight=False, soft_wrap=True)
        if one.remedy is not None:
            _console.print(f"         → {one.remedy}", markup=False, highlight=False, soft_wrap=True)
