"""What processes say when they start and stop, and by which version."""

import json
import re
import runpy
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clarion import __version__, describe_build
from tests.processes import COMMAND, Start, clean_environ

ROOT = Path(__file__).parents[2]


def read_lines(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_text().splitlines()]


def test_without_a_terminal_start_and_stop_are_lines_of_the_log_without_keys_and_links(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with log.open("w") as errors:
        process = subprocess.Popen(
            [*COMMAND, "serve"],
            env=clean_environ({"CLARION_DATA_DIR": str(tmp_path / "data")}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
        )
        try:
            wait_for(lambda: '"There is no owner yet"' in log.read_text() or process.poll() is not None)
            process.send_signal(signal.SIGTERM)
            output, _ = process.communicate(timeout=60)
        finally:
            process.kill()
            process.wait()

    lines = {line["message"]: line for line in read_lines(log)}
    assert (process.returncode, output) == (0, b"")
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+", lines["Started"]["address"])
    assert (lines["Started"]["command"], lines["Started"]["version"]) == ("serve", __version__)
    assert lines["Environment has no API key yet"]["hint"] == "clarion keys create --environment 'Production'"
    assert lines["There is no owner yet"]["hint"] == "clarion members link"
    assert list(lines)[-1] == "Stopped"
    assert not re.search(r"ck_|#[\w-]{43}", log.read_text())


def wait_for(is_done: Callable[[], bool]) -> None:
    for _ in range(600):
        if is_done():
            return
        time.sleep(0.1)
    raise AssertionError("it took longer than a minute")


def test_a_second_process_on_a_sqlite_store_is_warned_of(start: Start, tmp_path: Path) -> None:
    log, data = tmp_path / "log", ["--data-dir", str(tmp_path / "data")]
    first = start("serve", *data)
    second = start("serve", *data, CLARION_LOG_FILE=str(log), CLARION_LOG_FORMAT="json")
    second.stop()

    (warning,) = [line for line in read_lines(log) if line["message"].startswith("Another process serves this SQLite")]
    assert warning["pid"] == first.popen.pid


@pytest.fixture
def find_commit() -> Any:
    return runpy.run_path(str(ROOT / "hatch_build.py"))["find_commit"]


def test_a_build_has_the_commit_of_its_repository_or_the_given_one_or_none(find_commit: Any, tmp_path: Path) -> None:
    def git(*arguments: str) -> str:
        identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"]
        command = ["git", "-C", str(tmp_path), *identity, *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    without = find_commit(tmp_path, {})
    given = find_commit(tmp_path, {"BUILD_COMMIT": "0123456789abcdef0123"})
    (tmp_path / "commit.txt").write_text("of the sdist")
    of_sdist = find_commit(tmp_path, {})
    (tmp_path / "commit.txt").unlink()
    git("init", "--quiet")
    git("commit", "--quiet", "--allow-empty", "--message", "First")

    assert (without, given, of_sdist) == (None, "0123456789ab", "of the sdist")
    assert find_commit(tmp_path, {}) == git("rev-parse", "HEAD")[:12]


def test_the_version_names_the_commit_where_it_is_known(tmp_path: Path) -> None:
    unknown = describe_build("0.1.0", tmp_path / "commit.txt")
    (tmp_path / "commit.txt").write_text("0123456789ab\n")

    assert unknown == "0.1.0"
    assert describe_build("0.1.0", tmp_path / "commit.txt") == "0.1.0+0123456789ab"
