"""Logs: JSON lines with a constant message and fields, or readable lines, to standard error or to a file."""

import logging
import re
import sys
import traceback
from logging.handlers import WatchedFileHandler
from pathlib import Path
from typing import Any

import msgspec

from clarion.clock import Millis, iso_text
from clarion.errors import SettingsError

_SECONDS_BETWEEN_CHECKS = 1
_RESERVED = frozenset(vars(logging.makeLogRecord({})))
# PostgreSQL quotes the values of rows here, which may be contents of messages.
_ROW_DETAIL = re.compile(r"^DETAIL: .*?(?=^[A-Z]+:  |^The above exc|^During handl|\Z)", re.MULTILINE | re.DOTALL)


def configure_logging(*, level: str, json_lines: bool, file: Path | None = None) -> None:
    """Send every logger of the process to a file or to standard error, in one format."""
    handler = logging.StreamHandler(sys.stderr) if file is None else _open_log_file(file)
    handler.setFormatter(_JsonLines() if json_lines else _ReadableLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    # At info level these repeat the request log and the startup messages.
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access", "alembic"):
        logging.getLogger(name).setLevel(logging.WARNING)


def follow_log_file() -> bool:
    """Open the log file again if it was renamed; false if the log goes to standard error."""
    handlers = [handler for handler in logging.getLogger().handlers if isinstance(handler, _RotatedFile)]
    for handler in handlers:
        handler.check_at_next_line()
    return bool(handlers)


class _RotatedFile(WatchedFileHandler):
    """A file that other programs may rename; looking for that costs a system call, so it is not done for each line."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, encoding="utf-8")
        self._checked_at = 0.0

    def check_at_next_line(self) -> None:
        self._checked_at = 0.0

    def emit(self, record: logging.LogRecord) -> None:
        try:
            if abs(record.created - self._checked_at) >= _SECONDS_BETWEEN_CHECKS:
                self._checked_at = record.created
                self.reopenIfNeeded()
            logging.FileHandler.emit(self, record)
        except OSError:
            # A folder that is gone must not fail the request whose line this is.
            self.handleError(record)


def _open_log_file(path: Path) -> _RotatedFile:
    try:
        return _RotatedFile(path)
    except OSError as error:
        raise SettingsError(f"CLARION_LOG_FILE is {path}, which cannot be written: {error.strerror}.") from error


def describe_error(error: BaseException) -> str:
    """The kind of an error and where it was raised, without its message, which may quote what a caller sent."""
    return "".join([*traceback.format_tb(error.__traceback__), type(error).__name__])


def _format_trace(formatter: logging.Formatter, info: Any) -> str:
    return _ROW_DETAIL.sub("DETAIL: left out", formatter.formatException(info))


def _fields(record: logging.LogRecord) -> dict[str, Any]:
    return {name: value for name, value in vars(record).items() if name not in _RESERVED}


class _JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": iso_text(Millis(int(record.created * 1000))),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **_fields(record),
        }
        if record.exc_info:
            line["trace"] = _format_trace(self, record.exc_info)
        return msgspec.json.encode(line, enc_hook=str).decode()


class _ReadableLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        time = iso_text(Millis(int(record.created * 1000)))[11:23]
        fields = " ".join(f"{name}={value}" for name, value in _fields(record).items())
        line = f"{time} {record.levelname.lower():7} {record.getMessage()} {fields}".rstrip()
        return f"{line}\n{_format_trace(self, record.exc_info)}" if record.exc_info else line
