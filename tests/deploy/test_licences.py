"""Every package that runs in production has a permissive licence, by its own metadata."""

import re
from importlib.metadata import distribution

import pytest
from packaging.markers import Marker

from tests.deploy.files import ROOT

EXTRAS = ("apprise", "nats-py", "opentelemetry-exporter-otlp-proto-http", "opentelemetry-sdk")
# As packages write them: SPDX identifiers, classifiers, and older forms.
PERMISSIVE = {
    *("MIT", "MIT-0", "MIT License"),
    *("Apache-2.0", "Apache 2.0", "Apache Software License"),
    *("BSD-2-Clause", "BSD-3-Clause", "BSD License"),
    *("ISC", "ISC License", "ISC License (ISCL)"),
    *("PSF-2.0", "Python Software Foundation License"),
    *("Unlicense", "any-OSI"),
}
# Metadata that name no licence: what the licence file of the package says.
READ = {"dkimpy": "zlib"}


def run_time_packages() -> list[str]:
    """The packages of requirements/run.txt that are installed on this platform, and the extras."""
    text = (ROOT / "requirements" / "run.txt").read_text()
    pinned = re.findall(r"^([a-z0-9-]+)==\S+(?: ; (.+?))? \\$", text, re.MULTILINE)
    return [name for name, marker in pinned if not marker or Marker(marker).evaluate()] + [*EXTRAS]


def licences(name: str) -> set[str]:
    """The licences that a package states, in the newest form of metadata that it has."""
    metadata = distribution(name).metadata
    if "License-Expression" in metadata:
        return set(re.split(r" AND | OR ", metadata["License-Expression"]))
    if "License" in metadata and "\n" not in metadata["License"]:
        return {metadata["License"]}
    classifiers = metadata.get_all("Classifier") or []
    return {one.rpartition(" :: ")[2] for one in classifiers if one.startswith("License ::")}


def test_the_list_has_the_packages_of_the_service() -> None:
    assert {"httptools", "msgspec", "starlette", "uvicorn"} <= set(run_time_packages())
    assert len(run_time_packages()) > 50


@pytest.mark.parametrize("name", run_time_packages())
def test_the_licence_is_permissive(name: str) -> None:
    stated = licences(name)

    assert stated
    assert name in READ or stated <= PERMISSIVE
