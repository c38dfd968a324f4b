"""Generates the API description, the table of settings in the README and the script of a new store (`make docs`)."""

from pathlib import Path

from clarion.app import OPERATIONS
from clarion.cli.configuration import settings_rows
from clarion.db.migrate import SQLITE_SCRIPT
from clarion.db.schema.script import render_sqlite_script
from clarion.http.openapi import describe_api

_ROOT = Path(__file__).parents[3]
OPENAPI = _ROOT / "docs" / "reference" / "openapi.json"
README = _ROOT / "README.md"
START, END = "<!-- settings: made by `make docs` -->", "<!-- end of settings -->"


def settings_table() -> str:
    rows = "\n".join(f"| `{name}` | `{default}` | {about} |" for name, default, about in settings_rows())
    return f"| Variable | Default | What it is for |\n|---|---|---|\n{rows}"


def with_settings_table(readme: str) -> str:
    """The README with an updated table of settings."""
    before, _, rest = readme.partition(START)
    _, _, after = rest.partition(END)
    return f"{before}{START}\n{settings_table()}\n{END}{after}"


def write_documents() -> None:
    SQLITE_SCRIPT.write_text(render_sqlite_script())
    OPENAPI.parent.mkdir(parents=True, exist_ok=True)
    OPENAPI.write_bytes(describe_api(OPERATIONS))
    README.write_text(with_settings_table(README.read_text()))


if __name__ == "__main__":
    write_documents()
