"""Generates the API description, the tables of README and docs/security.md, and the script of a new store."""

from pathlib import Path

from clarion.app import OPERATIONS
from clarion.cli.access_table import render_access_tables
from clarion.cli.configuration import settings_rows
from clarion.db.migrations.migrate import SQLITE_SCRIPT
from clarion.db.schema.script import render_sqlite_script
from clarion.http.description.openapi import describe_api

_ROOT = Path(__file__).parents[3]
OPENAPI = _ROOT / "docs" / "reference" / "openapi.json"
README = _ROOT / "README.md"
SECURITY = _ROOT / "docs" / "security.md"


def settings_table() -> str:
    rows = "\n".join(f"| `{name}` | `{default}` | {about} |" for name, default, about in settings_rows())
    return f"| Variable | Default | What it is for |\n|---|---|---|\n{rows}"


def with_settings_table(readme: str) -> str:
    """The README with an updated table of settings."""
    return _with_part(readme, "settings", settings_table())


def with_access_tables(page: str) -> str:
    """The page on security with updated tables of who may do what."""
    return _with_part(page, "access", render_access_tables(OPERATIONS))


def _with_part(document: str, name: str, part: str) -> str:
    """The document with another generated part between its two marks."""
    start, end = f"<!-- {name}: made by `make docs` -->", f"<!-- end of {name} -->"
    before, _, rest = document.partition(start)
    _, _, after = rest.partition(end)
    return f"{before}{start}\n{part}\n{end}{after}"


def write_documents() -> None:
    SQLITE_SCRIPT.write_text(render_sqlite_script())
    OPENAPI.parent.mkdir(parents=True, exist_ok=True)
    OPENAPI.write_bytes(describe_api(OPERATIONS))
    README.write_text(with_settings_table(README.read_text()))
    SECURITY.write_text(with_access_tables(SECURITY.read_text()))


if __name__ == "__main__":
    write_documents()
