"""Reads the code blocks of a guide, and runs them as a reader would who pastes them one after the other.

`sh` blocks run in one shell. A `json` block directly behind one shows what it prints: members that the block leaves out
are not compared, and "…" stands for any text. A block behind `<!-- not run: reason -->` is for reading only.
"""

import json
import os
import re
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

DOCS = Path(__file__).parents[2] / "docs"
README = DOCS.parent / "README.md"
PAUSE_SECONDS = 0.1
PATIENCE_SECONDS = 15
TIMEOUT_SECONDS = 60

_BLOCK = re.compile(
    r"^(?:<!-- (?P<reason>not run: [^\n]+) -->\n+)?```(?P<language>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)
_END = "-- end of block --"
_CHANGES = re.compile(r"(^|\s)(-d|-X|--data)\s|^\w+=", re.MULTILINE)


class Block(Struct, frozen=True):
    language: str
    text: str
    is_run: bool
    follows_another: bool
    """Whether there is nothing between it and the block before."""


class Example(Struct, frozen=True):
    """Commands, and what they print where the guide shows it."""

    commands: str
    expected: Any = None

    @property
    def can_be_repeated(self) -> bool:
        """Whether the commands only read, so that they can be repeated until the work behind them is done."""
        return not _CHANGES.search(self.commands)


def list_guides() -> list[Path]:
    return [README, *sorted(DOCS.glob("*.md")), *sorted((DOCS / "channels").glob("*.md"))]


def list_examples(guide: Path) -> list[Example]:
    return list(_examples(_blocks(guide.read_text())))


def _blocks(text: str) -> Iterator[Block]:
    end = 0
    for found in _BLOCK.finditer(text):
        follows_another = end > 0 and not text[end : found.start()].strip()
        yield Block(found["language"], found["text"], found["reason"] is None, follows_another)
        end = found.end()


def _examples(blocks: Iterator[Block]) -> Iterator[Example]:
    commands: str | None = None
    for block in blocks:
        if block.language == "json" and block.follows_another and commands is not None:
            yield Example(commands, json.loads(block.text))
            commands = None
            continue
        if commands is not None:
            yield Example(commands)
        commands = block.text if block.language == "sh" and block.is_run else None
    if commands is not None:
        yield Example(commands)


class Shell:
    """A shell that keeps its variables and functions from one block to the next."""

    def __init__(self, folder: Path, variables: dict[str, str]) -> None:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("CLARION_")}
        self._process = subprocess.Popen(
            ["bash", "--norc", "--noprofile"],
            cwd=folder,
            env=kept | variables,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, commands: str) -> tuple[int, str]:
        """Run commands; returns the status of the last one and everything they print."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{commands}\n_status=$?; echo; echo '{_END}' $_status\n")
        self._process.stdin.flush()
        lines: list[str] = []
        deadline = threading.Timer(TIMEOUT_SECONDS, self._process.kill)
        deadline.start()
        try:
            for line in self._process.stdout:
                if line.startswith(_END):
                    return int(line.split()[-1]), "".join(lines)
                lines.append(line)
        finally:
            deadline.cancel()
        raise AssertionError(f"the shell ended, or was stopped after {TIMEOUT_SECONDS} seconds: {''.join(lines)}")

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(timeout=10)
        self._process.stdout.close()


def run_example(shell: Shell, example: Example) -> None:
    """Run an example; raises AssertionError if it fails or prints something else."""
    until = time.monotonic() + PATIENCE_SECONDS
    while True:
        status, printed = shell.run(example.commands)
        assert status == 0, f"{example.commands}\nprinted\n{printed}"
        problem = find_problem(printed, example.expected)
        if problem is None:
            return
        if not example.can_be_repeated or time.monotonic() > until:
            raise AssertionError(f"{example.commands}\n{problem}; it printed\n{printed}")
        time.sleep(PAUSE_SECONDS)


def find_problem(printed: str, expected: Any) -> str | None:
    """What is wrong with the output of commands, of which none may be refused by the API."""
    documents = [json.loads(line) for line in printed.splitlines() if line.startswith(("{", "["))]
    if expected is None:
        refused = [one for one in documents if isinstance(one, dict) and one.get("statusCode", 200) >= 400]
        return f"refused: {refused[0]}" if refused else None
    if not documents:
        return "it printed no JSON"
    return None if fits(documents[-1], expected) else f"it does not fit {expected}"


def fits(value: Any, expected: Any) -> bool:
    """Return whether a value has everything that is expected."""
    if expected == "…":
        return value is not None
    if isinstance(expected, str) and isinstance(value, str) and "…" in expected:
        return re.fullmatch(".*".join(map(re.escape, expected.split("…"))), value, re.DOTALL) is not None
    if isinstance(expected, dict):
        return isinstance(value, dict) and all(name in value and fits(value[name], expected[name]) for name in expected)
    if isinstance(expected, list):
        return isinstance(value, list) and len(value) == len(expected) and all(map(fits, value, expected))
    return bool(value == expected) and isinstance(value, bool) is isinstance(expected, bool)
