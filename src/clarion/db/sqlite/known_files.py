"""Recognizes files of ours by what they are, not by their names alone: stores, their logs, encryption keys, backups."""

import struct
from collections.abc import Iterable, Iterator
from pathlib import Path

from clarion.vault import KEY_FILE, looks_like_keys

LOG_SUFFIXES = ("-wal", "-shm", "-journal")
BACKUP_MARK = 0x_43_6C_42_6B  # "ClBk"
"""The application id of backups, by which they are told from stores."""

_HEADER_BYTES = 100
_SQLITE = b"SQLite format 3\0"
_LOG_STARTS = (b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83", b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7")
"""Of write-ahead logs, and of rollback journals."""
_ROLLBACK_JOURNAL = 1
"""The read version of databases without a write-ahead log; a store that was served has one."""


def describe_ours(path: Path, *, of_store: Path) -> str | None:
    """Say what a file is that nothing may be written over; None for other files and for backups.

    It may be of this store or of any other. The name of a log beside a store is taken also where there is none yet.
    """
    path = path.resolve()
    if path.name == KEY_FILE or _is_keys(path):
        return "a file of encryption keys"
    if _is_same(path, of_store) or _is_store(path):
        return "a store"
    if any(_is_same(path, one) for one in beside(of_store, LOG_SUFFIXES)) or _is_log(path):
        return "the log of a store"
    return None


def is_backup(path: Path) -> bool:
    """Whether `clarion backup` wrote a file, and nothing has served it since."""
    header = _read_start(path)
    if len(header) < _HEADER_BYTES or not header.startswith(_SQLITE):
        return False
    (mark,) = struct.unpack_from(">I", header, 68)
    return header[19] == _ROLLBACK_JOURNAL and mark == BACKUP_MARK


def beside(path: Path, suffixes: Iterable[str]) -> Iterator[Path]:
    """The names beside a file that begin with its name."""
    return (path.with_name(path.name + suffix) for suffix in suffixes)


def _is_same(path: Path, other: Path) -> bool:
    return path.exists() and other.exists() and path.samefile(other)


def _is_store(path: Path) -> bool:
    return _read_start(path).startswith(_SQLITE) and not is_backup(path)


def _is_log(path: Path) -> bool:
    has_store = any(
        path.name.endswith(suffix) and _is_store(path.with_name(path.name.removesuffix(suffix)))
        for suffix in LOG_SUFFIXES
    )
    return has_store or _read_start(path).startswith(_LOG_STARTS)


def _is_keys(path: Path) -> bool:
    return looks_like_keys(_read_start(path).decode(errors="replace"))


def _read_start(path: Path) -> bytes:
    if not path.is_file():
        return b""
    with path.open("rb") as file:
        return file.read(_HEADER_BYTES)
