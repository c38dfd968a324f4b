"""Every command of the guides works as they say, and prints what they show."""

import re
import shutil
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import NamedTuple

import pytest

from clarion.cli.configuration import settings_rows
from tests.contract.description import DESCRIPTION
from tests.docs.guides import DOCS, README, Shell, fits, list_examples, list_guides, run_example
from tests.processes import Start
from tests.services import Service, running_service

# Only these are run: commands of the others could change the machine.
_RUN = (
    *(
        "README",
        "quickstart",
        "events",
        "ask",
        "examples",
        "segments",
        "in-app",
        "email",
        "sms",
        "push",
        "chat",
        "digests",
        "schedules",
        "scheduled-triggers",
        "preferences",
        "failover",
        "chat-addresses",
    ),
    *(
        "webhooks",
        "troubleshooting",
        "environments",
        "audit-log",
        "personal-data",
        "rate-limits",
        "retention",
        "backup",
        "simulate",
        "inbox-security",
        "contexts",
        "layouts",
    ),
)
GUIDES = [guide for guide in list_guides() if guide.stem in _RUN and list_examples(guide)]
# Paths that guides leave open end with an ellipsis or a variable of the shell.
_OPERATION = re.compile(r"\b(GET|POST|PUT|PATCH|DELETE) /v\d/[\w/{}-]+(?![\w/{}…$-])")
ENVIRON = {"CLARION_EGRESS_ALLOW": "127.0.0.0/8"}
PATHS = DESCRIPTION["paths"]
CALL = 'call() { curl -s -H "Authorization: ApiKey $KEY" -H "Content-Type: application/json" "$@"; echo; }'


class Place(NamedTuple):
    """Where the commands of a guide run: the address of the service, and variables of the shell."""

    address: str
    variables: dict[str, str]


@pytest.fixture(scope="module")
async def service(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Service]:
    """A service that most guides share; each has an organization of its own."""
    async with running_service("sqlite", request, tmp_path_factory, **ENVIRON) as running:
        yield running


@pytest.fixture
async def shared_place(service: Service) -> Place:
    return Place(service.process.address, {"KEY": (await service.make_tenant()).key})


@pytest.fixture
def new_place(start: Start, tmp_path: Path) -> Place:
    data_dir = str(tmp_path / "clarion-data")
    process = start("serve", CLARION_DATA_DIR=data_dir, **ENVIRON)
    return Place(process.address, {"CLARION_DATA_DIR": data_dir, "KEY": process.keys["Development"]})


@pytest.fixture
def place(guide: Path, request: pytest.FixtureRequest) -> Place:
    found: Place = request.getfixturevalue("new_place" if needs_installation(guide) else "shared_place")
    return found


def needs_installation(guide: Path) -> bool:
    """Whether a guide is about a new installation, or uses the command line, which changes all of it."""
    commands = "\n".join(one.commands for one in list_examples(guide))
    return guide.stem in ("README", "quickstart") or re.search(r"\bclarion ", commands) is not None


@pytest.mark.skipif(shutil.which("curl") is None, reason="the examples of the guides are for curl")
@pytest.mark.parametrize("guide", GUIDES, ids=[guide.stem for guide in GUIDES])
def test_a_guides_commands_work_and_print_what_it_shows(guide: Path, place: Place, tmp_path: Path) -> None:
    shell = Shell(tmp_path, place.variables)
    host = place.address.removeprefix("http://")
    try:
        shell.run(f'set -u; {CALL}; clarion() {{ {sys.executable} -m clarion "$@" </dev/null; }}')
        for example in list_examples(guide):
            text = re.sub(r"(localhost|127\.0\.0\.1):3000", host, example.commands)
            run_example(shell, type(example)(text, example.expected))
    finally:
        shell.close()


def test_commands_that_are_not_run_are_marked() -> None:
    assert [guide.name for guide in list_guides() if guide.stem not in _RUN and list_examples(guide)] == []


def test_operations_that_guides_name_exist() -> None:
    known = [
        re.compile(re.sub(r"\{\w+\}", "[^/]+", f"{method.upper()} {path}"))
        for path, methods in PATHS.items()
        for method in methods
    ]
    missing = [
        f"{guide.name}: {found[0]}"
        for guide in list_guides()
        for found in _OPERATION.finditer(guide.read_text())
        if not any(one.fullmatch(found[0]) for one in known)
    ]
    assert missing == []


def test_settings_that_guides_name_exist() -> None:
    known = {"CLARION_CONFIG", *(name for name, *_ in settings_rows())}
    missing = [
        f"{guide.name}: {name}"
        for guide in list_guides()
        for name in re.findall(r"\bCLARION_[A-Z_]+[A-Z]\b(?![*…])", guide.read_text())
        if not {name, name.removesuffix("_FILE")} & known
    ]
    assert missing == []


def test_links_between_guides_lead_somewhere() -> None:
    broken = [
        f"{guide.name}: {target}"
        for guide in list_guides()
        for target in re.findall(r"\]\((?!https?:|mailto:|#)([^)#\s]+)", guide.read_text())
        if not (guide.parent / target).exists()
    ]
    assert broken == []


def test_the_index_names_every_guide() -> None:
    index = (DOCS / "README.md").read_text()
    named = {(DOCS / target).resolve() for target in re.findall(r"\]\(([^)#\s]+)", index) if ":" not in target}
    missing = [guide.name for guide in list_guides() if guide.resolve() not in {*named, README, DOCS / "README.md"}]
    assert missing == []


@pytest.mark.parametrize(
    ("value", "expected", "result"),
    [
        ({"a": 1, "b": [{"c": "x"}]}, {"b": [{"c": "…"}]}, True),
        ({"a": 1}, {"b": 1}, False),
        ([1, 2], [1], False),
        ("3 new comments", "… new …", True),
        ("3 old comments", "… new …", False),
        (1, True, False),
    ],
)
def test_what_a_guide_shows_is_a_part_of_what_is_printed(value: object, expected: object, result: bool) -> None:
    assert fits(value, expected) is result
