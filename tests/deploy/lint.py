"""`make deploy-check`: runs the linters of the deployment files, and fails if one of them complains or is missing."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.deploy import files

BIN = Path(sys.executable).parent
# The oldest and the newest version of Kubernetes to support.
KUBERNETES_VERSIONS = ("1.27", "1.37")
YAML_RULES = (
    "{extends: default, "
    "rules: {line-length: {max: 140}, document-start: disable, comments: {min-spaces-from-content: 1}}}"
)
# Of 100, as `systemd-analyze security` counts: 0 is fully confined.
MAX_EXPOSURE = 20
PLACEHOLDER = "/opt/clarion/bin/clarion"


def main() -> int:
    failed = [name for name, check in CHECKS.items() if not check()]
    for name in CHECKS:
        sys.stdout.write(f"{name:20} {'FAILED' if name in failed else 'passed'}\n")
    return 1 if failed else 0


def hadolint() -> bool:
    return run(BIN / "hadolint", "--failure-threshold", "style", files.DOCKERFILE)


def compose() -> bool:
    return run(BIN / "check-jsonschema", "--builtin-schema", "vendor.compose-spec", files.COMPOSE)


def kubernetes() -> bool:
    core = [path for path in sorted((files.KUBERNETES / "core").glob("*.yaml")) if path.name != "kustomization.yaml"]
    objects = [*core, files.KUBERNETES / "base" / "autoscaling.yaml"]
    program = BIN / "kubernetes-validate"
    return all(run(program, "--strict", "--quiet", "-k", version, *objects) for version in KUBERNETES_VERSIONS)


def yamllint() -> bool:
    return run(BIN / "yamllint", "--strict", "-d", YAML_RULES, files.DEPLOY)


def kustomize() -> bool:
    """Render the core, which the other two add to; older versions of kubectl do not accept their form."""
    return run("kubectl", "kustomize", files.KUBERNETES / "core", quiet=True)


def shell() -> bool:
    return run("sh", "-n", files.DEPLOY / "docker" / "make-secrets")


def systemd() -> bool:
    """Verify copies of the units whose program exists, and how confined they are."""
    with tempfile.TemporaryDirectory() as folder:
        copies = []
        for path in files.UNITS:
            copy = Path(folder) / path.name.replace("@", "@1")
            copy.write_text(path.read_text().replace(PLACEHOLDER, shutil.which("true") or "/bin/true"))
            copies.append(copy)
        is_valid = run("systemd-analyze", "verify", "--man=no", *copies)
        rating = ["systemd-analyze", "security", "--offline=true", f"--threshold={MAX_EXPOSURE}", "--no-pager"]
        return all([is_valid, *(run(*rating, copy, quiet=True) for copy in copies)])


CHECKS = {
    "hadolint": hadolint,
    "check-jsonschema": compose,
    "kubernetes-validate": kubernetes,
    "yamllint": yamllint,
    "kubectl kustomize": kustomize,
    "sh -n": shell,
    "systemd-analyze": systemd,
}


def run(*command: str | Path, quiet: bool = False) -> bool:
    try:
        done = subprocess.run(
            [str(part) for part in command],
            env=os.environ | {"SYSTEMD_PAGER": "", "LC_ALL": "C.UTF-8"},
            stdout=subprocess.DEVNULL if quiet else None,
            check=False,
            timeout=120,
        )
    except FileNotFoundError:
        sys.stderr.write(f"{command[0]} is not installed.\n")
        return False
    return done.returncode == 0


if __name__ == "__main__":
    sys.exit(main())
