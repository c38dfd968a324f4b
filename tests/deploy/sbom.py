"""`make sbom`: everything that a plain installation has, as CycloneDX JSON.

It is read from a new environment with the pinned packages and the wheel, so that it has what is installed, and no more.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from tests.deploy.files import ROOT, VERSION
from tests.deploy.installation import install


def main(folder: Path) -> None:
    (wheel,) = folder.glob("*.whl")
    target = folder / f"clarion-{VERSION}.cdx.json"
    with tempfile.TemporaryDirectory() as temporary:
        python = install(wheel, Path(temporary) / "venv")
        command = [sys.executable, "-m", "cyclonedx_py", "environment", str(python), "--pyproject"]
        options = ["--output-reproducible", "--of", "JSON", "-o", str(target)]
        subprocess.run([*command, str(ROOT / "pyproject.toml"), *options], check=True)
    sys.stdout.write(f"{target}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
