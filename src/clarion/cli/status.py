"""`clarion status` and `clarion doctor`: an installation at a glance, and what is wrong with it."""

import asyncio
import os
import resource
import sys
from contextlib import suppress
from typing import Annotated

import msgspec
import typer
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from clarion.cli.installation import Installation, with_installation
from clarion.cli.process import choose_max_connections, choose_max_sockets
from clarion.clock import DAY, HOUR, MINUTE, SECOND, iso_text
from clarion.errors import SettingsError, StoreError
from clarion.monitoring.backlog import Queue
from clarion.monitoring.doctor.checkup import check_installation
from clarion.monitoring.doctor.model import CheckStatus, Finding, fine, warning, worst
from clarion.monitoring.heartbeat import ProcessRow
from clarion.monitoring.status import InstallationStatus, read_status, status_document
from clarion.settings.model import Settings

MAX_CLOCK_OFFSET_SECONDS = 1.0
_REFRESH_SECONDS = 2.0
_QUEUES = {Queue.LANE: "Runs", Queue.SEND: "Sends", Queue.WEBHOOK: "Webhooks"}

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
def show_status(
    installation: Installation,
    *,
    watch: Annotated[bool, typer.Option("--watch", help="Refresh every two seconds, until Ctrl-C.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")] = False,
) -> None:
    """Show an installation at a glance: processes, backlog, rates, open circuits, dead letters, the store.

    The exit status is 1 if no process runs, or the store has not the schema of this version.
    """
    settings = installation.settings
    if watch:
        with suppress(KeyboardInterrupt):
            asyncio.run(_watch(settings, as_json=as_json))
    elif not asyncio.run(_show_once(settings, as_json=as_json)).is_working:
        raise typer.Exit(1)


async def _show_once(settings: Settings, *, as_json: bool) -> InstallationStatus:
    status = await read_status(settings)
    if as_json:
        typer.echo(msgspec.json.encode(status_document(status)).decode())
    else:
        Console().print(render_status(status))
    return status


async def _watch(settings: Settings, *, as_json: bool) -> None:
    """Refresh for ever; as JSON, a line each time."""
    if as_json:
        while True:
            await _show_once(settings, as_json=True)
            await asyncio.sleep(_REFRESH_SECONDS)
    with Live(Text("…"), auto_refresh=False, screen=True) as live:
        while True:
            live.update(await _render_now(settings), refresh=True)
            await asyncio.sleep(_REFRESH_SECONDS)


async def _render_now(settings: Settings) -> RenderableType:
    try:
        return render_status(await read_status(settings))
    except StoreError as error:
        return Text(str(error), "red")


def render_status(status: InstallationStatus) -> RenderableType:
    parts: list[RenderableType] = [_describe_store(status)]
    if not status.is_current:
        return Group(*parts, Text(_describe_schema(status), "yellow"))
    parts.append(_process_table(status) if status.processes else Text(""))
    if not status.alive:
        parts.append(Text("No process is running: nothing is accepted and nothing is sent.", "bold red"))
    parts += [_backlog_table(status), _describe_rates(status), _describe_troubles(status)]
    return Group(*parts)


def _describe_schema(status: InstallationStatus) -> str:
    if status.schema is None or status.schema < status.needed_schema:
        return f"This version needs schema {status.needed_schema}; run `clarion migrate`."
    return f"This version knows schemas up to {status.needed_schema}; use the version that migrated the store."


def _describe_store(status: InstallationStatus) -> Text:
    size = _size_text(status.size_bytes)
    return Text(f"Store: {status.database}, schema {status.schema or 'none'}, {size}. {iso_text(status.read_at)}")


def _process_table(status: InstallationStatus) -> Table:
    table = Table("Process", "Host", "Pid", "Version", "State", "Up", "Last seen", "Clock")
    for process in status.processes:
        table.add_row(
            process.kind,
            process.host,
            str(process.pid),
            process.version,
            _state_text(process),
            _span_text(process.now - process.started_at),
            f"{_span_text(process.now - process.seen_at)} ago",
            _clock_text(process),
        )
    return table


def _state_text(process: ProcessRow) -> Text:
    if not process.is_alive:
        return Text("gone", "red")
    state = Text("ready", "green") if process.report.is_ready else Text("not ready", "yellow")
    if process.report.failing:
        state.append(f"; failing: {', '.join(process.report.failing)}", "red")
    return state


def _clock_text(process: ProcessRow) -> Text:
    offset = process.clock_offset_seconds
    return Text("right") if abs(offset) <= MAX_CLOCK_OFFSET_SECONDS else Text(f"{offset:+.1f} s", "red")


def _backlog_table(status: InstallationStatus) -> Table:
    table = Table("Waiting", "Count", "Oldest")
    for queue, name in _QUEUES.items():
        waiting = status.waiting(queue)
        oldest = "–" if waiting.since is None else _span_text(status.read_at - waiting.since)
        table.add_row(name, f"{waiting.count}{' or more' if waiting.is_capped else ''}", oldest)
    table.add_row("Sends under way", str(status.sends_under_way), "–")
    return table


def _describe_rates(status: InstallationStatus) -> Text:
    rates = status.rates
    return Text(
        f"Per second, in the last minute: {rates.requests:.1f} requests, {rates.accepted:.1f} triggers accepted, "
        f"{rates.completed:.1f} runs completed, {rates.sent:.1f} messages sent, {rates.failed:.1f} failed"
    )


def _describe_troubles(status: InstallationStatus) -> Text:
    state = status.state
    dead, windows = (0, 0) if state is None else (state.dead_letters, state.open_windows)
    circuits = ", ".join(f"{one.identifier} ({one.provider_id})" for one in status.open_circuits)
    text = Text(f"Digests gathering: {windows}. Dead letters: ")
    text.append(str(dead), "red" if dead else None)
    text.append(". Open circuits: ")
    return text.append(circuits or "none", "red" if circuits else None)


def _span_text(milliseconds: int) -> str:
    for unit, name in ((DAY, "d"), (HOUR, "h"), (MINUTE, "min")):
        if milliseconds >= 2 * unit:
            return f"{milliseconds // unit} {name}"
    return f"{max(0, milliseconds) // SECOND} s"


def _size_text(size: int) -> str:
    value = float(size)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024:
            return f"{value:.0f} {unit}"
        value /= 1024
    return f"{value:.1f} TiB"


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
        _print_finding(findings)
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


def _print_finding(findings: list[Finding]) -> None:
    for finding in findings:
        _console.print(f"{_MARKS[finding.status]:>8} {finding.check}: ", end="")
        _console.print(finding.summary, markup=False, highlight=False, soft_wrap=True)
        if finding.remedy is not None:
            _console.print(f"         → {finding.remedy}", markup=False, highlight=False, soft_wrap=True)
