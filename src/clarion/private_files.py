"""Files and folders that only their owner can read and write."""

import logging
import os
import secrets
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
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        # A link, unlike a rename, leaves the file of a process that was faster.
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        draft.unlink()


def replace_private_file(path: Path, content: bytes) -> None:
    """Write a file in the place of one that may be there; a process that finds it finds all of the old or the new."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


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
