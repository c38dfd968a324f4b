"""Files and folders that only their owner can read and write."""

import logging
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_OTHERS = 0o077

log = logging.getLogger(__name__)


def make_private_folder(path: Path) -> None:
    """Make a folder, and those above it, for the owner alone; a folder that exists keeps its mode."""
    if not path.exists():
        make_private_folder(path.parent)
        path.mkdir(mode=0o700, exist_ok=True)


def make_private_file(path: Path, content: bytes = b"") -> None:
    """Make a file with this content unless there is one; a process that finds it finds all of it."""
    if path.exists():
        return
    draft = _make_draft(path)
    try:
        _write(draft, content)
        # A link, unlike a rename, leaves the file of a process that was faster.
        os.link(draft, path)
        _sync(path.parent)
    except FileExistsError:
        pass
    finally:
        draft.unlink()


def replace_private_file(path: Path, content: bytes, *, like: Path | None = None) -> Path | None:
    """Write a file; one with other content that is there is kept, and returned, under another name."""
    if path.exists():
        if path.read_bytes() == content:
            return None
        kept: Path | None = keep_aside(path)
    else:
        kept = None
    with private_draft(path, like=like) as draft:
        _write(draft, content)
    return kept


@contextmanager
def private_draft(target: Path, *, like: Path | None = None) -> Iterator[Path]:
    """A private file beside the target, which takes its name when the body is done, and is removed after an error.

    It gets the owner and the mode of a file that it replaces, else the owner of `like`; only root can give files away.
    """
    draft = _make_draft(target)
    try:
        yield draft
        _sync(draft)
        if target.exists():
            status = target.stat()
            _give_to_owner_of(status, draft)
            draft.chmod(stat.S_IMODE(status.st_mode))
        elif like is not None:
            _give_to_owner_of(like.stat(), draft)
        draft.replace(target)
        _sync(target.parent)
    finally:
        draft.unlink(missing_ok=True)


def keep_aside(path: Path) -> Path:
    """Give a file a second name, which is free: `NAME.replaced`, `NAME.replaced-2` and so on; returns that."""
    number = 1
    while True:
        kept = path.with_name(f"{path.name}.replaced{'' if number == 1 else f'-{number}'}")
        try:
            os.link(path, kept)
        except FileExistsError:
            number += 1
        else:
            return kept


def tighten_file(path: Path) -> None:
    """Take a file that others can read or write from them; where that is not possible, log a warning."""
    try:
        if path.stat().st_mode & _OTHERS:
            path.chmod(0o600)
            log.info("File was open to other users; now it is not", extra={"file": str(path)})
    except FileNotFoundError:
        return
    except OSError as error:
        log.warning("File is open to other users", extra={"file": str(path), "error": str(error)})


def _make_draft(target: Path) -> Path:
    draft = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
    os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    return draft


def _write(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    _sync(path)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _give_to_owner_of(owner: os.stat_result, path: Path) -> None:
    if os.geteuid() == 0:
        os.chown(path, owner.st_uid, owner.st_gid)
