"""Data folders and keys that cannot be used: every command says so in one line, and shows no secret."""

import io
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from clarion.cli.commands import main
from tests.cli.support import set_up_store
from tests.cli.walking import option_names, required_arguments, walk_commands

Run = Callable[..., CompletedProcess[str]]

NOBODY = 65534
SECRET = "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LXNlYzE="
SERVICES = (["serve"], ["api"], ["worker"])
LISTED = [(words, command) for words, command in walk_commands() if "--data-dir" in option_names(command)]
EXTRA = {
    "simulate": ["--to", "ada"],
    "explain": ["x"],
    "members create": ["--no-password"],
    "environments set": ["--timezone", "UTC"],
    "dead-letters redrive": ["--all"],
    "dead-letters discard": ["--all"],
    "restore": ["--force"],
    "move": ["--to", "postgresql://nobody@127.0.0.1:1/x"],
}
COMMANDS = [(words, command) for words, command in LISTED if words not in SERVICES]


@pytest.fixture(autouse=True)
def no_input(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands that ask get no answer."""
    monkeypatch.setattr("sys.stdin", io.StringIO())


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that an ordinary user can reach; those of pytest are for their owner alone."""
    path = Path(tempfile.mkdtemp())
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


@contextmanager
def ordinary_user() -> Iterator[None]:
    """Be a user whom permissions stop: root is not stopped by any."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


def make_file(folder: Path) -> Path:
    path = folder / "data"
    path.write_text("no folder")
    return path


def make_unwritable_folder(folder: Path) -> Path:
    path = folder / "data"
    path.mkdir(mode=0o555)
    return path


def make_foreign_folder(folder: Path) -> Path:
    """A folder of somebody else, with a store in it."""
    path = folder / "data"
    set_up_store(["--data-dir", str(path)])
    path.chmod(0o000)
    return path


def make_foreign_store(folder: Path) -> Path:
    """A folder that this user can write to, with a store that they cannot read."""
    path = folder / "data"
    set_up_store(["--data-dir", str(path)])
    path.chmod(0o777)
    (path / "clarion.db").chmod(0o000)
    return path


def run_as_ordinary_user(
    capsys: pytest.CaptureFixture[str], words: list[str], arguments: list[str]
) -> tuple[int, str, str]:
    with ordinary_user(), pytest.raises(SystemExit) as ended:
        main([*words, *arguments])
    printed = capsys.readouterr()
    code = ended.value.code
    assert isinstance(code, int)
    return code, printed.out, printed.err


@pytest.mark.parametrize("make", [make_file, make_unwritable_folder, make_foreign_folder, make_foreign_store])
def test_every_command_says_in_one_line_that_the_data_folder_cannot_be_used(
    folder: Path, capsys: pytest.CaptureFixture[str], make: Callable[[Path], Path]
) -> None:
    data = make(folder)
    silent = []

    for words, command in COMMANDS:
        arguments = [*required_arguments(command, f"{folder}/ada@example.com"), *EXTRA.get(" ".join(words), ())]
        arguments += ["--yes"] if "--yes" in option_names(command) else []
        code, out, err = run_as_ordinary_user(capsys, words, [*arguments, "--data-dir", str(data)])

        is_clear = code in (1, 2) and err.count("\n") == 1 and err.startswith("clarion: ") and str(folder) in err
        if not is_clear and (words != ["doctor"] or code != 1 or str(data) not in out):
            silent.append((words, code, out, err))
    data.chmod(0o755)

    assert [f"{one}\n" for one in silent] == []


@pytest.mark.parametrize("words", SERVICES, ids=str)
def test_a_process_that_cannot_use_its_folder_says_so_in_one_line(
    folder: Path, run_command: Run, words: list[str]
) -> None:
    done = run_command(*words, "--data-dir", str(make_file(folder)))

    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert (
        done.stderr == f"clarion: The data folder {folder / 'data'} is a file; name a folder with CLARION_DATA_DIR.\n"
    )


def test_every_command_that_needs_keys_says_in_one_line_that_they_cannot_be_read(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = folder / "data"
    set_up_store(["--data-dir", str(data)])
    for one in (data, data / "clarion.db"):
        one.chmod(0o777)
    (data / "encryption.keys").chmod(0o000)

    told = find_complaints(capsys, data)

    assert {" ".join(words) for words, text in told if f"{data / 'encryption.keys'} cannot be read" in text} >= {
        "doctor",
        "keys create",
        "environments create",
        "encryption rotate",
        "demo",
    }


@pytest.mark.parametrize("value", [SECRET, f"{SECRET}:id", f"id:{SECRET[:-4]}", f"id:{SECRET},{SECRET}"])
def test_no_command_shows_a_key_that_is_not_valid(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    data = folder / "data"
    set_up_store(["--data-dir", str(data)])
    for one in (data, *data.iterdir()):
        one.chmod(0o777)
    monkeypatch.setenv("CLARION_ENCRYPTION_KEYS", value)

    told = find_complaints(capsys, data)

    assert {" ".join(words) for words, text in told if "CLARION_ENCRYPTION_KEYS must be" in text} >= {
        "doctor",
        "keys create",
        "environments create",
        "encryption rotate",
        "demo",
    }
    assert [text for _, text in told if SECRET[:12] in text] == []


def find_complaints(capsys: pytest.CaptureFixture[str], data: Path) -> list[tuple[list[str], str]]:
    """Run all commands; returns those that failed, with what they printed."""
    found = []
    for words, command in COMMANDS:
        value = "Development" if words != ["backup"] else str(data.parent / "missing" / "copy")
        code, out, err = run_as_ordinary_user(
            capsys, words, [*required_arguments(command, value), "--data-dir", str(data)]
        )
        if code:
            assert err.count("\n") <= 1 or "Usage: " in err, f"{words}: {err}"
            found.append((words, out + err))
    return found
