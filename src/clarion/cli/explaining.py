"""`clarion explain` and `clarion simulate`: why a person got a message or not, and what a trigger would do."""

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer
from rich.console import Console
from rich.text import Text

from clarion.cli.installation import Installation, get_environment, wide_console, with_installation
from clarion.cli.options import EnvironmentName
from clarion.clock import Millis, SystemClock, iso_text
from clarion.content.environment import ContentSource
from clarion.db.port import Connection, Database
from clarion.environments.options import DataKind
from clarion.errors import SettingsError
from clarion.explain.asking import explain_transaction, explain_workflow, make_request
from clarion.explain.model import Decision, Explanation, Outcome, Verdict
from clarion.explain.run import explain_run
from clarion.explain.wire import ExplainQuery, ExplanationOut
from clarion.http.input.validation import make_body_reader
from clarion.ids import NotificationId, SubscriberKey, TransactionKey, find_id, id_text
from clarion.jsontext import encode_json, json_text
from clarion.retention.periods import find_horizon
from clarion.settings.model import Settings
from clarion.simulate import actions
from clarion.simulate.model import DEFAULT_PEOPLE, MAX_PEOPLE, Scenario, SimulatedMessage, Simulation
from clarion.simulate.wire import SimulationIn, SimulationOut, read_scenario
from clarion.vault import open_configured_vault
from clarion.vocabulary import Channel, count_text

_STYLES = {
    Verdict.PASSED: "green",
    Verdict.STOPPED: "yellow",
    Verdict.FAILED: "red",
    Verdict.WAITING: "cyan",
    Verdict.UNKNOWN: "magenta",
}
_GOOD = frozenset({Outcome.DELIVERED, Outcome.SENT})
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
    if notification_id is not None:
        if subscriber or transaction or workflow:
            raise SettingsError("Give a NOTIFICATION_ID, or --subscriber with --transaction or --workflow, not both.")
        work = partial(_explain_run, environment_name=environment, text=notification_id, channel=channel)
    else:
        query = _read_query(subscriber, transaction, workflow, channel)
        work = partial(_explain_person, settings=installation.settings, environment_name=environment, query=query)
    explanation = installation.use(lambda database: database.scan(work))
    if as_json:
        typer.echo(json_text(ExplanationOut.of(explanation)))
    else:
        _show(explanation)


def _read_query(
    subscriber: str | None, transaction: str | None, workflow: str | None, channel: Channel | None
) -> ExplainQuery:
    if not subscriber:
        raise SettingsError("Give a NOTIFICATION_ID, or --subscriber with --transaction or --workflow.")
    if bool(transaction) is bool(workflow):
        raise SettingsError("Give one of --transaction and --workflow: what is asked about.")
    return ExplainQuery(subscriber_id=subscriber, transaction_id=transaction, workflow_id=workflow, channel=channel)


async def _explain_run(db: Connection, environment_name: str, text: str, channel: Channel | None) -> Explanation:
    environment, run_id = await get_environment(db, environment_name), find_id(text)
    if run_id is None:
        raise SettingsError(f"'{text}' is not the id of a run; it looks like {id_text(bytes(16))}.")
    return await explain_run(db, environment.id, NotificationId(run_id), SystemClock().now(), channel=channel)


async def _explain_person(
    db: Connection, settings: Settings, environment_name: str, query: ExplainQuery
) -> Explanation:
    environment, now = await get_environment(db, environment_name), SystemClock().now()
    horizon = await find_horizon(db, environment.id, DataKind.RUNS, settings, now)
    key = SubscriberKey(query.subscriber_id)
    request = await make_request(db, environment.id, key, channel=query.channel, now=now, horizon=horizon)
    if query.transaction_id is not None:
        return await explain_transaction(db, request, TransactionKey(query.transaction_id))
    return await explain_workflow(db, request, query.workflow_id or "")


def _show(explanation: Explanation) -> None:
    console = wide_console()
    run = "no run" if explanation.notification_id is None else f"run {id_text(explanation.notification_id)}"
    workflow = explanation.workflow_key or "unknown workflow"
    head = f"{explanation.subscriber_key} · {workflow} · {explanation.transaction_key or 'no trigger'} · {run}"
    console.print(Text(head, style="bold"), soft_wrap=True)
    for channel, result in explanation.channels.items():
        style = "green" if result.outcome in _GOOD else "yellow"
        console.print(Text.assemble((f"{channel}: {result.outcome}", style), f" · {result.summary}"), soft_wrap=True)
    for warning in explanation.warnings:
        console.print(Text(f"Warning of the trigger: {warning}", style="yellow"), soft_wrap=True)
    console.print()
    for decision in explanation.decisions:
        _show_decision(console, decision)
    for other in explanation.others:
        console.print(f"Before: {iso_text(other.triggered_at)}  {other.transaction_key}", markup=False, soft_wrap=True)


def _show_decision(console: Console, decision: Decision) -> None:
    at = "not recorded            " if decision.at is None else iso_text(decision.at)
    where = "" if decision.step_id is None else f" [{decision.step_id}]"
    derived = "" if decision.source == "recorded" else " (derived)"
    verdict = (f"{decision.verdict:<7}", _STYLES[decision.verdict])
    text = f"  {decision.kind:<11}{where} {decision.summary}{derived}"
    console.print(Text.assemble(f"{at}  ", verdict, text), soft_wrap=True)
    if decision.remedy is not None:
        console.print(Text(f"{'':>35}→ {decision.remedy}", style="dim"), soft_wrap=True)


@with_installation
def simulate(  # noqa: PLR0913 - the options of a command
    installation: Installation,
    *,
    environment: EnvironmentName,
    workflow: Annotated[str, typer.Argument(help="The workflow to trigger.", metavar="WORKFLOW", show_default=False)],
    to: Annotated[list[str] | None, typer.Option(help="A recipient; may be repeated.", metavar="SUBSCRIBER_ID")] = None,
    topic: Annotated[list[str] | None, typer.Option(help="A topic of recipients.", metavar="TOPIC_KEY")] = None,
    segment: Annotated[list[str] | None, typer.Option(help="A segment of recipients.", metavar="SEGMENT_KEY")] = None,
    payload: Annotated[str | None, typer.Option(help="The payload.", metavar=_JSON_OR_FILE)] = None,
    overrides: Annotated[str | None, typer.Option(help="The overrides.", metavar=_JSON_OR_FILE)] = None,
    preferences: Annotated[
        str | None, typer.Option(help="What they are taken to want, as in the API.", metavar=_JSON_OR_FILE)
    ] = None,
    steps: Annotated[
        str | None, typer.Option(help="Steps to try instead of the saved ones.", metavar=_JSON_OR_FILE)
    ] = None,
    events: Annotated[
        str | None, typer.Option(help="What happens meanwhile, as in the API.", metavar=_JSON_OR_FILE)
    ] = None,
    version: Annotated[int | None, typer.Option(help="The number of a saved version.")] = None,
    at: Annotated[str | None, typer.Option(help="When it is triggered, such as 2026-01-31T09:30:00Z.")] = None,
    until: Annotated[str | None, typer.Option(help="When the simulation ends; 31 days later by default.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=MAX_PEOPLE, help="How many recipients to show.")] = DEFAULT_PEOPLE,
    as_json: Annotated[bool, typer.Option("--json", help="As the API answers.")] = False,
) -> None:
    """Show what a trigger would do, to whom and when; nothing is sent and nothing is stored."""
    topics = ({"type": "Topic", "topicKey": one} for one in topic or ())
    segments = ({"type": "Segment", "segmentKey": one} for one in segment or ())
    recipients = [*(to or ()), *topics, *segments]
    if not recipients:
        raise SettingsError(
            "Give --to SUBSCRIBER_ID, --topic TOPIC_KEY or --segment SEGMENT_KEY: whom the trigger is for."
        )
    documents = {
        "payload": payload,
        "overrides": overrides,
        "preferences": preferences,
        "steps": steps,
        "events": events,
    }
    body = {
        "name": workflow,
        "to": recipients,
        "limit": limit,
        **{name: _read_json(f"--{name}", text) for name, text in documents.items() if text is not None},
        **{name: value for name, value in (("at", at), ("until", until), ("version", version)) if value is not None},
    }
    settings = installation.settings
    source = ContentSource(vault=open_configured_vault(settings), public_url=settings.public_url, makes_samples=True)
    request = make_body_reader(SimulationIn)(encode_json(body), [])
    scenario, simulation = installation.use(lambda database: _simulate(database, source, environment, request))
    if as_json:
        typer.echo(json_text(SimulationOut.of(scenario, simulation)))
    else:
        _show_simulation(scenario, simulation)


async def _simulate(
    database: Database, source: ContentSource, environment: str, body: Any
) -> tuple[Scenario, Simulation]:
    found = await database.read(lambda db: get_environment(db, environment))
    scenario = read_scenario(found.id, body, SystemClock().now())
    return scenario, await actions.simulate(database, source, scenario)


def _read_json(option: str, text: str) -> Any:
    try:
        return msgspec.json.decode(Path(text[1:]).read_bytes() if text.startswith("@") else text)
    except OSError as error:
        raise SettingsError(f"{option}: {text[1:]} cannot be read: {error.strerror}.") from None
    except ValueError as error:
        raise SettingsError(f"{option} is not JSON: {error}.") from None


def _show_simulation(scenario: Scenario, simulation: Simulation) -> None:
    console = wide_console()
    people = f"{count_text(simulation.total, 'person', 'people')}, {len(simulation.recipients)} shown"
    console.print(Text(f"{simulation.outcome} · {iso_text(scenario.at)} · {people}"))
    for error in simulation.errors:
        console.print(Text(error, style="yellow"), soft_wrap=True)
    for recipient in simulation.recipients:
        console.print()
        console.print(Text(recipient.subscriber_key, style="bold"))
        entries: list[tuple[Millis, int, Decision | SimulatedMessage]] = [
            *(
                (scenario.until if decision.at is None else decision.at, 0, decision)
                for decision in recipient.decisions
            ),
            *((message.at, 1, message) for message in recipient.messages),
        ]
        # A message stands behind the decisions that led to it.
        for at, _, entry in sorted(entries, key=lambda entry: entry[:2]):
            _show_simulated(console, at, entry)
    if simulation.is_cut_short:
        console.print(Text("The simulation took too long and stopped early.", style="red"))


def _show_simulated(console: Console, at: Millis, entry: Decision | SimulatedMessage) -> None:
    if isinstance(entry, Decision):
        where = "" if entry.step_id is None else f"[{entry.step_id}] "
        verdict = (f"{entry.verdict:<8}", _STYLES[entry.verdict])
        console.print(
            Text.assemble(f"{iso_text(at)}  ", verdict, f"{entry.kind:<12}{where}{entry.summary}"), soft_wrap=True
        )
        return
    through = "" if entry.integration is None else f" through {entry.integration}"
    content = " ".join((entry.subject or "", entry.content)).split()
    text = f"[{entry.step_id}] {entry.channel} to {entry.to}{through}: {' '.join(content)[:_MAX_CONTENT]}"
    console.print(Text.assemble(f"{iso_text(at)}  ", ("message ", "bold"), f"{'':<12}{text}"), soft_wrap=True)
