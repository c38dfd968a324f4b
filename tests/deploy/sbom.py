"""`make sbom`: everything that a plain installation has, as CycloneDX JSON.

It is read from a new environment with the pinned packages and the wheel, so that it has what is installed, and no more.
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.deploy.files import ROOT, VERSION
from tests.deploy.installation import install, pinned_packages


def main(folder: Path) -> None:
    (wheel,) = folder.glob("*.whl")
    target = folder / f"clarion-{VERSION}.cdx.json"
    with tempfile.TemporaryDirectory() as temporary:
        python = install(wheel, Path(temporary) / "venv")
        command = [sys.executable, "-m", "cyclonedx_py", "environment", str(python), "--pyproject"]
        options = ["--output-reproducible", "--of", "JSON", "-o", str(target)]
        subprocess.run([*command, str(ROOT / "pyproject.toml"), *options], check=True)
    check_versions(target)
    sys.stdout.write(f"{target}\n")


def check_versions(bill: Path) -> None:
    """Every component is one of the pinned packages, in that version."""
    listed = {(one["name"], one["version"]) for one in json.loads(bill.read_text())["components"]}
    found = {f"{re.sub('[-_.]+', '-', name).lower()}=={version}" for name, version in listed}
    unknown = found - {line.partition(" ")[0] for line in pinned_packages()}
    assert found, "the bill is empty"
    assert not unknown, f"not pinned in requirements/run.txt: {unknown}"


if __name__ == "__main__":
    main(Path(sys.argv[1]))
