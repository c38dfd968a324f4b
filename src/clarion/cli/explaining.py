"""`clarion explain` and `clarion simulate`: why a person got a message or not, and what a trigger would do."""

import asyncio
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer
from rich.console import Console
from rich.text import Text

from clarion.cli.installation import Installation, get_environment, open_current_store, wide_console, with_installation
from clarion.cli.options import EnvironmentName
from clarion.clock import Millis, SystemClock, iso_text
from clarion.db.port import Connection, Work
from clarion.environments.options import DataKind
from clarion.errors import SettingsError
from clarion.explain.asking import explain_transaction, explain_workflow, make_request
from clarion.explain.model import Decision, Explanation, Outcome, Verdict
from clarion.explain.run import explain_run
from clarion.explain.wire import ExplainQuery, ExplanationOut
from clarion.http.validation import make_body_reader
from clarion.ids import NotificationId, SubscriberKey, TransactionKey, find_id, id_text
from clarion.jsontext import encode_json, json_text
from clarion.retention.periods import find_horizon
from clarion.settings.model import Settings
from clarion.simulate import actions
from clarion.simulate.model import DEFAULT_PEOPLE, MAX_PEOPLE, Scenario, SimulatedMessage, Simulation
from clarion.simulate.wire import SimulationIn, SimulationOut, read_scenario
from clarion.vault import open_configured_vault
from clarion.vocabulary import Channel

_MARKS = {
    Verdict.PASSED: Text("passed ", style="green"),
    Verdict.STOPPED: Text("stopped", style="yellow"),
    Verdict.FAILED: Text("failed ", style="red"),
    Verdict.WAITING: Text("waiting", style="cyan"),
    Verdict.UNKNOWN: Text("unknown", style="magenta"),
}
_GOOD = frozenset({Outcome.DELIVERED, Outcome.SENT})

_STYLES = {Verdict.PASSED: "green", Verdict.STOPPED: "yellow", Verdict.FAILED: "red", Verdict.WAITING: "cyan"}
_MAX_CONTENT = 200
_JSON_OR_FILE = "JSON|@FILE"


@with_installation
def explain(  # noqa: PLR0913 - the options of a command
    installation: Installation,
    *,
    environment: EnvironmentName,
    notification_id: Annotated[
        str | None, typer.Argument(help="The run to explain.", metavar="[NOTIFICATION_ID]", show_default=False)
    ] = None,
    subscriber: Annotated[str | None, typer.Option(help="Whom it is about.", metavar="SUBSCRIBER_ID")] = None,
    transaction: Annotated[str | None, typer.Option(help="Which trigger.", metavar="TRANSACTION_ID")] = None,
    workflow: Annotated[
        str | None, typer.Option(help="The newest trigger of this workflow.", metavar="WORKFLOW_ID")
    ] = None,
    channel: Annotated[Channel | None, typer.Option(help="Only what is about this channel.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As the API answers.")] = False,
) -> None:
    """Explain why a person got a message, or not: every decision in order, and what would change it."""
    settings = installation.settings
    if notification_id is not None:
        if subscriber or transaction or workflow:
            raise SettingsError("Give a NOTIFICATION_ID, or --subscriber with --transaction or --workflow, not both.")
        work = partial(_explain_run, environment=environment, text=notification_id, channel=channel)
    else:
        query = _read_query(subscriber, transaction, workflow, channel)
        work = partial(_explain_person, settings=settings, environment=environment, query=query)
    found = asyncio.run(_read(settings, work))
    if as_json:
        typer.echo(json_text(ExplanationOut.of(found)))
    else:
        _show(found)


async def _read(settings: Settings, work: Work[Explanation]) -> Explanation:
    async with open_current_store(settings) as database:
        return await database.scan(work)


def _read_query(
    subscriber: str | None, transaction: str | None, workflow: str | None, channel: Channel | None
) -> ExplainQuery:
    if not subscriber:
        raise SettingsError("Give a NOTIFICATION_ID, or --subscriber with --transaction or --workflow.")
    if bool(transaction) is bool(workflow):
        raise SettingsError("Give one of --transaction and --workflow: what is asked about.")
    return ExplainQuery(subscriber_id=subscriber, transaction_id=transaction, workflow_id=workflow, channel=channel)


async def _explain_run(db: Connection, environment: str, text: str, channel: Channel | None) -> Explanation:
    found, run_id = await get_environment(db, environment), find_id(text)
    if run_id is None:
        raise SettingsError(f"'{text}' is not the id of a run; it looks like {id_text(bytes(16))}.")
    return await explain_run(db, found.id, NotificationId(run_id), SystemClock().now(), channel=channel)


async def _explain_person(db: Connection, settings: Settings, environment: str, query: ExplainQuery) -> Explanation:
    found, now = await get_environment(db, environment), SystemClock().now()
    horizon = await find_horizon(db, found.id, DataKind.RUNS, settings, now)
    key = SubscriberKey(query.subscriber_id)
    request = await make_request(db, found.id, key, channel=query.channel, now=now, horizon=horizon)
    if query.transaction_id is not None:
        return await explain_transaction(db, request, TransactionKey(query.transaction_id))
    return await explain_workflow(db, request, query.workflow_id or "")


def _show(found: Explanation) -> None:
    console = wide_console()
    run = "no run" if found.notification_id is None else f"run {id_text(found.notification_id)}"
    workflow = found.workflow_key or "unknown workflow"
    head = f"{found.subscriber_key} · {workflow} · {found.transaction_key or 'no trigger'} · {run}"
    console.print(Text(head, style="bold"), soft_wrap=True)
    for channel, result in found.channels.items():
        style = "green" if result.outcome in _GOOD else "yellow"
        console.print(Text.assemble((f"{channel}: {result.outcome}", style), f" · {result.summary}"), soft_wrap=True)
    for warning in found.warnings:
        console.print(Text(f"Warning of the trigger: {warning}", style="yellow"), soft_wrap=True)
    console.print()
    for decision in found.decisions:
        _show_decision(console, decision)
    for other in found.others:
        console.print(f"Before: {iso_text(other.triggered_at)}  {other.transaction_key}", markup=False, soft_wrap=True)


def _show_decision(console: Console, one: Decision) -> None:
    at = "not recorded            " if one.at is None else iso_text(one.at)
    where = "" if one.step_id is None else f" [{one.step_id}]"
    derived = "" if one.source == "recorded" else " (derived)"
    console.print(
        Text.assemble(f"{at}  ", _MARKS[one.verdict], f"  {one.kind:<11}{where} {one.summary}{derived}"), soft_wrap=True
    )
    if one.remedy is not None:
        console.print(Text(f"{'':>35}→ {one.remedy}", style="dim"), soft_wrap=True)


@with_installation
def simulate(  # noqa: PLR0913 - the options of a command
    installation: Installation,
    *,
    environment: EnvironmentName,
    workflow: Annotated[str, typer.Argument(help="The workflow to trigger.", metavar="WORKFLOW", show_default=False)],
    to: Annotated[list[str] | None, typer.Option(help="A recipient; may be repeated.", metavar="SUBSCRIBER_ID")] = None,
    topic: Annotated[list[str] | None, typer.Option(help="A topic of recipients.", metavar="TOPIC_KEY")] = None,
    payload: Annotated[str | None, typer.Option(help="The payload.", metavar=_JSON_OR_FILE)] = None,
    overrides: Annotated[str | None, typer.Option(help="The overrides.", metavar=_JSON_OR_FILE)] = None,
    preferences: Annotated[
        str | None, typer.Option(help="What they are taken to want, as in the API.", metavar=_JSON_OR_FILE)
    ] = None,
    steps: Annotated[
        str | None, typer.Option(help="Steps to try instead of the saved ones.", metavar=_JSON_OR_FILE)
    ] = None,
    version: Annotated[int | None, typer.Option(help="The number of a saved version.")] = None,
    at: Annotated[str | None, typer.Option(help="When it is triggered, such as 2026-01-31T09:30:00Z.")] = None,
    until: Annotated[str | None, typer.Option(help="When the simulation ends; 31 days later by default.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=MAX_PEOPLE, help="How many recipients to show.")] = DEFAULT_PEOPLE,
    as_json: Annotated[bool, typer.Option("--json", help="As the API answers.")] = False,
) -> None:
    """Show what a trigger would do, to whom and when; nothing is sent and nothing is stored."""
    recipients = [*(to or ()), *({"type": "Topic", "topicKey": one} for one in topic or ())]
    if not recipients:
        raise SettingsError("Give --to SUBSCRIBER_ID or --topic TOPIC_KEY: whom the trigger is for.")
    documents = {"payload": payload, "overrides": overrides, "preferences": preferences, "steps": steps}
    body = {
        "name": workflow,
        "to": recipients,
        "limit": limit,
        **{name: _read_json(f"--{name}", text) for name, text in documents.items() if text is not None},
        **{name: value for name, value in (("at", at), ("until", until), ("version", version)) if value is not None},
    }
    settings = installation.settings
    simulation = make_body_reader(SimulationIn)(encode_json(body), [])
    scenario, found = asyncio.run(_simulate(settings, environment, simulation))
    if as_json:
        typer.echo(json_text(SimulationOut.of(scenario, found)))
    else:
        _show_simulation(scenario, found)


async def _simulate(settings: Settings, environment: str, body: Any) -> tuple[Scenario, Simulation]:
    vault = open_configured_vault(settings)
    async with open_current_store(settings) as database:
        found = await database.read(lambda db: get_environment(db, environment))
        scenario = read_scenario(found.id, body, SystemClock().now())
        return scenario, await actions.simulate(database, vault, scenario)


def _read_json(option: str, text: str) -> Any:
    try:
        return msgspec.json.decode(Path(text[1:]).read_bytes() if text.startswith("@") else text)
    except OSError as error:
        raise SettingsError(f"{option}: {text[1:]} cannot be read: {error.strerror}.") from None
    except ValueError as error:
        raise SettingsError(f"{option} is not JSON: {error}.") from None


def _show_simulation(scenario: Scenario, found: Simulation) -> None:
    console = wide_console()
    shown, people = len(found.recipients), "person" if found.total == 1 else "people"
    console.print(Text(f"{found.outcome} · {iso_text(scenario.at)} · {found.total} {people}, {shown} shown"))
    for error in found.errors:
        console.print(Text(error, style="yellow"), soft_wrap=True)
    for one in found.recipients:
        console.print()
        console.print(Text(one.subscriber_key, style="bold"))
        entries: list[tuple[Millis, int, Decision | SimulatedMessage]] = [
            *((scenario.until if decision.at is None else decision.at, 0, decision) for decision in one.decisions),
            *((message.at, 1, message) for message in one.messages),
        ]
        # A message stands behind the decisions that led to it.
        for at, _, entry in sorted(entries, key=lambda entry: entry[:2]):
            _show_simulated(console, at, entry)
    if found.is_cut_short:
        console.print(Text("The simulation took too long and stopped early.", style="red"))


def _show_simulated(console: Console, at: Millis, one: Decision | SimulatedMessage) -> None:
    if isinstance(one, Decision):
        where = "" if one.step_id is None else f"[{one.step_id}] "
        verdict = (f"{one.verdict:<8}", _STYLES[one.verdict])
        console.print(
            Text.assemble(f"{iso_text(at)}  ", verdict, f"{one.kind:<12}{where}{one.summary}"), soft_wrap=True
        )
        return
    through = "" if one.integration is None else f" through {one.integration}"
    content = " ".join((one.subject or "", one.content)).split()
    text = f"[{one.step_id}] {one.channel} to {one.to}{through}: {' '.join(content)[:_MAX_CONTENT]}"
    console.print(Text.assemble(f"{iso_text(at)}  ", ("message ", "bold"), f"{'':<12}{text}"), soft_wrap=True)
