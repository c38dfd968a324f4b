"""The deployment files, parsed."""

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
CHANGELOG = ROOT / "CHANGELOG.md"
DOCKERFILE = DEPLOY / "docker" / "Dockerfile"
COMPOSE = DEPLOY / "docker" / "compose.yaml"
KUBERNETES = DEPLOY / "kubernetes"
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
VERSION: str = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]

Instruction = tuple[str, str]
Directives = dict[str, list[str]]


def read_dockerfile() -> list[list[Instruction]]:
    """The stages of the Dockerfile, each as its instructions with their arguments."""
    lines = [line for line in DOCKERFILE.read_text().splitlines() if not line.startswith("#")]
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines))
    stages: list[list[Instruction]] = []
    for line in filter(None, joined.splitlines()):
        name, _, arguments = line.partition(" ")
        if name == "FROM":
            stages.append([])
        stages[-1].append((name, arguments))
    return stages


def image_environment() -> dict[str, str]:
    (text,) = [arguments for name, arguments in read_dockerfile()[-1] if name == "ENV"]
    return dict(part.split("=", 1) for part in text.split())


def image_healthcheck() -> list[str]:
    (text,) = [arguments for name, arguments in read_dockerfile()[-1] if name == "HEALTHCHECK"]
    command: list[str] = json.loads(text.partition("CMD ")[2])
    return command


def read_compose() -> dict[str, Any]:
    parsed: dict[str, Any] = yaml.safe_load(COMPOSE.read_text())
    return parsed


def kubernetes_objects() -> list[dict[str, Any]]:
    """Every object of the base and of the KEDA variant; not the kustomizations, and not the values of charts."""
    found = []
    for path in sorted(KUBERNETES.glob("*/*.yaml")):
        found += [one for one in yaml.safe_load_all(path.read_text()) if one["kind"] != "Kustomization"]
    return found


def find_objects(kind: str) -> dict[str, dict[str, Any]]:
    return {one["metadata"]["name"]: one for one in kubernetes_objects() if one["kind"] == kind}


def pod_templates() -> dict[str, dict[str, Any]]:
    """The specifications of pods by component: api, worker, migrate."""
    owners = [*find_objects("Deployment").values(), *find_objects("Job").values()]
    return {one["metadata"]["labels"]["app.kubernetes.io/component"]: one["spec"]["template"]["spec"] for one in owners}


def kustomization(name: str) -> dict[str, Any]:
    parsed: dict[str, Any] = yaml.safe_load((KUBERNETES / name / "kustomization.yaml").read_text())
    return parsed


def config_map() -> dict[str, str]:
    (generator,) = kustomization("core")["configMapGenerator"]
    return dict(line.split("=", 1) for line in generator["literals"])


def read_unit(path: Path) -> dict[str, Directives]:
    """The sections of a systemd unit; a directive may occur several times."""
    sections: dict[str, Directives] = {}
    for line in path.read_text().splitlines():
        if line.startswith("["):
            section = sections.setdefault(line.strip("[]"), {})
        elif line and not line.startswith("#"):
            name, _, value = line.partition("=")
            section.setdefault(name, []).append(value)
    return sections


def used_variables() -> Iterator[str]:
    """The names of CLARION_… variables anywhere in deploy/."""
    for path in sorted(path for path in DEPLOY.rglob("*") if path.is_file() and "secrets" not in path.parts):
        for line in path.read_text().splitlines():
            if not line.lstrip().startswith("#"):
                yield from re.findall(r"\bCLARION_[A-Z_]+\b", line)
