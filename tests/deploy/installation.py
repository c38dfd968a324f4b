"""Installs a built wheel into an empty environment."""

import re
import subprocess
import sys
import venv
from pathlib import Path

from tests.deploy.files import ROOT

RUN = ROOT / "requirements" / "run.txt"


def pinned_packages() -> list[str]:
    """The lines of requirements/run.txt without their hashes."""
    return re.findall(r"^([a-z0-9-]+==.+?) \\$", RUN.read_text(), re.MULTILINE)


def install(wheel: Path, folder: Path) -> Path:
    """`pip install` of the wheel, with packages of the tested versions, so that the result is the same every day."""
    venv.create(folder, with_pip=False)
    python = folder / "bin" / "python"
    constraints = folder / "constraints.txt"
    constraints.write_text("".join(f"{line}\n" for line in pinned_packages()))
    options = ["--quiet", "--disable-pip-version-check", "--no-input", "-c", str(constraints)]
    subprocess.run([sys.executable, "-m", "pip", "--python", str(python), "install", *options, str(wheel)], check=True)
    constraints.unlink()
    return python
