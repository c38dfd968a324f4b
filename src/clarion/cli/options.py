"""Options that several commands take."""

from typing import Annotated

import typer

Host = Annotated[str | None, typer.Option(envvar="CLARION_HOST", help="Address to listen on.", metavar="ADDRESS")]
Port = Annotated[
    str | None, typer.Option(envvar="CLARION_PORT", help="Port to listen on; 0 takes a free one.", metavar="PORT")
]
DataDir = Annotated[
    str | None, typer.Option(envvar="CLARION_DATA_DIR", help="Folder of the SQLite store.", metavar="FOLDER")
]
DatabaseUrl = Annotated[
    str | None, typer.Option(envvar="CLARION_DATABASE_URL", help="PostgreSQL instead of SQLite.", metavar="URL")
]
Force = Annotated[bool, typer.Option("--force", help="Although something is in the way; the error says what.")]
EnvironmentName = Annotated[str, typer.Option(help="Name or identifier of the environment.", metavar="NAME")]
