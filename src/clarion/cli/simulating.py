"""`clarion simulate`: what a trigger would do."""

import asyncio
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer
from rich.console import Console
from rich.text import Text

from clarion.cli.installation import Installation, get_environment, open_current_store, wide_console, with_installation
from clarion.cli.options import EnvironmentName
from clarion.clock import Millis, SystemClock, iso_text
from clarion.errors import SettingsError
from clarion.explain.model import Decision, Verdict
from clarion.http.validation import make_body_reader
from clarion.jsontext import encode_json, json_text
from clarion.settings.model import Settings
from clarion.simulate import actions
from clarion.simulate.model import DEFAULT_PEOPLE, MAX_PEOPLE, Scenario, SimulatedMessage, Simulation
from clarion.simulate.reading import read_scenario
from clarion.simulate.wire import SimulationIn, SimulationOut
from clarion.vault import open_configured_vault

_STYLES = {Verdict.PASSED: "green", Verdict.STOPPED: "yellow", Verdict.FAILED: "red", Verdict.WAITING: "cyan"}
_MAX_CONTENT = 200
_JSON_OR_FILE = "JSON|@FILE"


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
        _show(scenario, found)


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


def _show(scenario: Scenario, found: Simulation) -> None:
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
            _show_entry(console, at, entry)
    if found.is_cut_short:
        console.print(Text("The simulation took too long and stopped early.", style="red"))


def _show_entry(console: Console, at: Millis, one: Decision | SimulatedMessage) -> None:
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
