"""Log formats: JSON lines with a constant message and fields, or readable lines for a terminal."""

import logging
import re
import sys
import traceback
from typing import Any

import msgspec

from clarion.clock import Millis, iso_text

_RESERVED = frozenset(vars(logging.makeLogRecord({})))
# PostgreSQL quotes the values of rows here, which may be contents of messages.
_ROW_DETAIL = re.compile(r"^DETAIL: .*?(?=^[A-Z]+:  |^The above exc|^During handl|\Z)", re.MULTILINE | re.DOTALL)


def configure_logging(*, level: str, json_lines: bool) -> None:
    """Send every logger of the process to standard error in one format."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_JsonLines() if json_lines else _ReadableLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    # At info level these repeat the request log and the startup messages.
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access", "alembic"):
        logging.getLogger(name).setLevel(logging.WARNING)


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
