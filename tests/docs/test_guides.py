"""Every command of the guides works as they say, and prints what they show."""

import re
import shutil
import sys
from pathlib import Path

import pytest

from tests.docs.guides import DOCS, README, Shell, fits, list_examples, list_guides, run_example
from tests.processes import Start

# Only these are run: commands of the others could change the machine.
_RUN = (
    *("README", "quickstart", "in-app", "email", "sms", "push", "chat", "digests", "preferences", "failover"),
    *(
        "webhooks",
        "troubleshooting",
        "environments",
        "audit-log",
        "personal-data",
        "rate-limits",
        "retention",
        "backup",
    ),
)
GUIDES = [guide for guide in list_guides() if guide.stem in _RUN and list_examples(guide)]
CALL = 'call() { curl -s -H "Authorization: ApiKey $KEY" -H "Content-Type: application/json" "$@"; echo; }'


@pytest.mark.skipif(shutil.which("curl") is None, reason="the examples of the guides are for curl")
@pytest.mark.parametrize("guide", GUIDES, ids=[guide.stem for guide in GUIDES])
def test_a_guides_commands_work_and_print_what_it_shows(guide: Path, start: Start, tmp_path: Path) -> None:
    data_dir = tmp_path / "clarion-data"
    process = start("serve", CLARION_DATA_DIR=str(data_dir), CLARION_EGRESS_ALLOW="127.0.0.0/8")
    keys = process.keys
    shell = Shell(tmp_path, {"CLARION_DATA_DIR": str(data_dir), "KEY": keys["Development"]})
    place = process.address.removeprefix("http://")
    try:
        shell.run(f'set -u; {CALL}; clarion() {{ {sys.executable} -m clarion "$@" </dev/null; }}')
        for example in list_examples(guide):
            text = re.sub(r"(localhost|127\.0\.0\.1):3000", place, example.commands)
            run_example(shell, type(example)(text, example.expected))
    finally:
        shell.close()


def test_commands_that_are_not_run_are_marked() -> None:
    assert [guide.name for guide in list_guides() if guide.stem not in _RUN and list_examples(guide)] == []


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
