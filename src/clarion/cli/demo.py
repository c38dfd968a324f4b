"""`clarion demo`: a believable small company in an empty environment."""

from typing import Annotated

import typer
from rich.console import Console

from clarion.cli.installation import (
    Installation,
    command_line_author,
    get_environment,
    with_installation,
)
from clarion.clock import SystemClock
from clarion.db.port import Connection, Database
from clarion.demo.filling import Contents, fill_environment
from clarion.environments.bootstrap import check_vault
from clarion.environments.model import Environment
from clarion.environments.wire import EnvironmentType
from clarion.errors import SettingsError
from clarion.settings.model import Settings
from clarion.vault import Vault, open_configured_vault

_DEFAULT = "Development"

DemoEnvironment = Annotated[
    str, typer.Option(help="The environment to fill; it must be empty, and not a production one.", metavar="NAME")
]


@with_installation
def demo(installation: Installation, environment: DemoEnvironment = _DEFAULT) -> None:
    """Fill an empty environment with a small company: people, workflows and a week of runs.

    No provider is called. If it is interrupted, nothing was written: run it again.
    """
    settings = installation.settings
    vault = open_configured_vault(settings)
    console = Console(stderr=True)
    with console.status("Living through a week at Larkspur Cycles …"):
        filled, made = installation.use(lambda database: _fill(database, settings, vault, environment))
    _show(settings, filled, made)


async def _fill(database: Database, settings: Settings, vault: Vault, name: str) -> tuple[Environment, Contents]:
    async def find(db: Connection) -> Environment:
        await check_vault(db, settings, vault)
        return await get_environment(db, name)

    environment = await database.read(find)
    if environment.kind == EnvironmentType.PROD:
        raise SettingsError(
            f"'{environment.name}' is a production environment, which the demo is not for; choose another one with "
            "--environment, or create one with `clarion environments create Demo`."
        )
    now = SystemClock().now()
    made = await fill_environment(database, environment, vault=vault, until=now, author=command_line_author())
    await database.notify_workers()
    await database.update_statistics()
    return environment, made


def _show(settings: Settings, environment: Environment, made: Contents) -> None:
    address = settings.public_url or f"http://localhost:{settings.port}"
    typer.echo(
        f"{environment.name} is now Larkspur Cycles, a made-up bicycle shop: {made.people} people, {made.topics} "
        f"topics, {made.workflows} workflows, and a week of {made.runs} runs with {made.messages} messages."
    )
    typer.echo(
        "Its accounts at providers are made up and switched off. Mails and text messages that you trigger from now on "
        "are stored in the outbox, and push and chat steps say that they have no active integration."
    )
    typer.echo(f"\nLook around (with `clarion serve` running):\n  {address.rstrip('/')}/dashboard")
    name = environment.name if " " not in environment.name else f"'{environment.name}'"
    for question, asked in _QUESTIONS.items():
        typer.echo(f"\n{question}\n  clarion explain --environment {name} {asked}")


_QUESTIONS = {
    "Why did Thomas get the mail about his payment, although he switched mails off?": (
        "--subscriber thomas --transaction payment-871"
    ),
    "Why did Naomi not get her code?": "--subscriber naomi --transaction code-0010",
    "Why did Mina hear nothing of the stock?": "--subscriber mina --transaction stock-0-0",
}
