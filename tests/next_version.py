"""The next version: a copy of this one with one more migration, and processes that run from it."""

import shutil
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from subprocess import CompletedProcess

import clarion
from clarion.db.migrations.revisions import VERSIONS
from tests.db.versions import ADD_COLUMN, make_versions
from tests.processes import Process, clean_environ

REVISION = "9001"


class NextVersion:
    """A package folder with the migration 9001, which adds a column and claims what `claim` says."""

    def __init__(self, folder: Path, running: ExitStack | None = None, *, claim: str = "") -> None:
        package = Path(clarion.__file__).parent
        shutil.copytree(package, folder / "clarion", ignore=shutil.ignore_patterns("files", "versions"))
        make_versions(folder / "clarion" / VERSIONS.relative_to(package), ADD_COLUMN, claim=claim)
        self._environ = {"PYTHONPATH": str(folder)}
        self._running = running or ExitStack()

    def start(self, *arguments: str, **environ: str) -> Process:
        process = Process([*arguments], environ | self._environ, entry=["-m", "clarion"])
        self._running.callback(process.close)
        return process

    def run(self, *arguments: str, **environ: str) -> CompletedProcess[str]:
        command = [sys.executable, "-m", "clarion", *arguments]
        environ = clean_environ(environ | self._environ)
        return subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
