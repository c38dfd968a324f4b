"""The lock file of web/ must install on every machine, not only on the one that made it."""

import json
from pathlib import Path
from typing import Any

import pytest

LOCK = Path(__file__).parents[2] / "web" / "package-lock.json"


@pytest.fixture(scope="module")
def packages() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = json.loads(LOCK.read_text())["packages"]
    return found


@pytest.mark.parametrize(
    "name",
    [
        *(f"@esbuild/{system}-{cpu}" for system in ("linux", "darwin", "win32") for cpu in ("x64", "arm64")),
        *(f"@biomejs/cli-{system}-{cpu}" for system in ("linux", "darwin", "win32") for cpu in ("x64", "arm64")),
        *(f"@biomejs/cli-linux-{cpu}-musl" for cpu in ("x64", "arm64")),
    ],
)
def test_native_packages_are_locked_for_every_platform(packages: dict[str, dict[str, Any]], name: str) -> None:
    assert packages[f"node_modules/{name}"]["integrity"].startswith("sha512-")


def test_every_package_is_pinned_by_its_hash_and_by_no_address(packages: dict[str, dict[str, Any]]) -> None:
    for path, package in packages.items():
        if path:
            assert "integrity" in package, path
            assert "resolved" not in package, path


def test_packages_that_are_asked_for_have_exact_versions(packages: dict[str, dict[str, Any]]) -> None:
    asked = packages[""]["dependencies"] | packages[""]["devDependencies"]

    assert {name: version for name, version in asked.items() if not version[0].isdigit()} == {}
