"""Commands in the process of the test, which is much faster than a process for each."""

import asyncio

from typer.testing import CliRunner, Result

from clarion.app import open_application
from clarion.cli.commands import app
from clarion.settings.model import Settings


def set_up_store(options: list[str], **environ: str) -> dict[str, str]:
    """Create a store as the first start does; returns the first API keys by environment."""

    async def start() -> dict[str, str]:
        settings = load_settings(options, **environ)
        async with open_application(settings, migrate=True, makes_keys=True) as application:
            return application.first_keys.keys if application.first_keys else {}

    return asyncio.run(start())


def load_settings(options: list[str], **environ: str) -> Settings:
    """The settings of a command with these options."""
    names = {"--data-dir": "data_dir", "--database-url": "database_url"}
    given = {names[option]: value for option, value in zip(options[::2], options[1::2], strict=True)}
    return Settings.load(environ, **given)


def run_here(*arguments: str, **environ: str) -> Result:
    """Run a `clarion` command; an error of Clarion is the exception of the result."""
    return CliRunner().invoke(app, list(arguments), env=environ)
