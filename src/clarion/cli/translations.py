"""`clarion translations`: the texts of an environment in all languages, as one file."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from clarion.cli.installation import (
    Installation,
    command_line_author,
    get_environment,
    print_line,
    with_installation,
)
from clarion.cli.options import EnvironmentName
from clarion.clock import SystemClock
from clarion.content.translations.environment_texts import (
    MAX_EXPORT,
    TextsImport,
    apply_import,
    export_texts,
    prepare_import,
)
from clarion.content.translations.wire import EnvironmentTexts
from clarion.db.port import Connection, Database
from clarion.errors import Invalid, RequestError, SettingsError
from clarion.http.input.validation import make_body_reader
from clarion.http.limits import check_nesting
from clarion.jsontext import json_text
from clarion.vocabulary import count_text

commands = typer.Typer(help="Export the texts of all languages to one file, and import them.", no_args_is_help=True)

MAX_FILE = 4 * MAX_EXPORT
"""Bytes of a file, which may have much white space."""
MAX_SHOWN = 20

_read_body = make_body_reader(EnvironmentTexts)


@commands.command("export")
@with_installation
def export_file(
    installation: Installation,
    environment: EnvironmentName,
    output: Annotated[Path | None, typer.Option(help="File to write, or overwrite; else standard output.")] = None,
) -> None:
    """Write the texts of all workflows and layouts in all languages as JSON."""

    async def export(db: Connection) -> EnvironmentTexts:
        return await export_texts(db, (await get_environment(db, environment)).id)

    exported = installation.use(lambda database: database.scan(export))
    text = msgspec.json.format(json_text(exported), indent=2) + "\n"
    if output is None:
        typer.echo(text, nl=False)
        return
    output.write_text(text, encoding="utf-8")
    print_line(f"Wrote {count_text(len(exported.locales), 'language', 'languages')} to {output}.")


@commands.command("import")
@with_installation
def import_file(
    installation: Installation,
    file: Annotated[Path, typer.Argument(help="A file as `clarion translations export` writes it.")],
    environment: EnvironmentName,
) -> None:
    """Replace the texts that a file names, in all its languages; a file with faults changes nothing."""
    prepared = installation.use(partial(_import, file=file, environment=environment))
    changed = sum(len(one.changed) for one in prepared.resources)
    unchanged = sum(len(one.given) for one in prepared.resources) - changed
    print_line(f"Changed {count_text(changed, 'translation', 'translations')}; {unchanged} were the same.")
    for name in prepared.unused:
        print_line(f"Not used, because isTranslationEnabled is false: {name}")


async def _import(database: Database, file: Path, environment: str) -> TextsImport:
    try:
        texts = _read(file)
        environment_id = (await database.read(lambda db: get_environment(db, environment))).id
        prepare = partial(prepare_import, environment_id=environment_id, texts=texts)
        # Before the unit of work, so that the service can write meanwhile.
        (await database.scan(prepare)).check()

        async def work(db: Connection) -> TextsImport:
            prepared = await prepare(db)
            await apply_import(db, prepared, command_line_author(), SystemClock().now())
            return prepared

        return await database.transaction(work)
    except Invalid as error:
        raise SettingsError("\n".join([f"Nothing was imported from {file}:", *_lines(error)])) from None


def _read(file: Path) -> EnvironmentTexts:
    if file.stat().st_size > MAX_FILE:
        raise SettingsError(f"{file} has more than the {MAX_FILE} bytes of one file.")
    content = file.read_bytes()
    try:
        check_nesting(content)
        return _read_body(content, [])
    except Invalid:
        raise
    except RequestError as error:
        raise SettingsError(f"Nothing was imported from {file}: {error.message}.") from None


def _lines(error: Invalid) -> Iterator[str]:
    places = [f"  {place}: {problem.message}" for place, problems in error.problems.items() for problem in problems]
    yield from places[:MAX_SHOWN]
    if len(places) > MAX_SHOWN:
        yield f"  and {len(places) - MAX_SHOWN} more"
