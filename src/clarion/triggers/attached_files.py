"""Files in the payload and the overrides of a trigger, as they are accepted: in base64, and together not too large."""

import base64
import binascii
from typing import Any

from clarion.errors import Invalid
from clarion.triggers.attachments import has_attachments

MAX_ATTACHED_BYTES = 20_000_000
"""Of all files of a trigger together. So many fit into a request, where they are a third larger."""
_RULE = "must be base64, a list of bytes, or a Buffer as JavaScript encodes it"
_TOO_LARGE = f"must have files of at most {MAX_ATTACHED_BYTES} bytes together; send links to larger ones"

Values = dict[str, Any]


def read_attached_files(payload: Values, overrides: Values | None) -> tuple[Values, Values | None]:
    """Return both with all files in base64; raises Invalid for what is no file, and for files that are too large."""
    reader = _FileReader()
    if isinstance(payload.get("attachments"), list):
        payload = payload | {"attachments": reader.read_list(payload["attachments"], "payload.attachments")}
    if overrides and has_attachments(overrides):
        overrides = reader.read_members(overrides, "overrides")
    return payload, overrides


def without_files(payload: Values) -> Values:
    """Return the payload as it counts towards its limit, which is not that of files."""
    given = payload.get("attachments")
    if not isinstance(given, list):
        return payload
    return payload | {"attachments": [one | {"file": ""} if _has_file(one) else one for one in given]}


class _FileReader:
    """Adds up the size of the files that it reads."""

    def __init__(self) -> None:
        self._size = 0

    def read_members(self, values: Values, path: str) -> Values:
        """Read all lists named `attachments`, for the channel, a provider or one of a step."""
        read: Values = {}
        for name, item in values.items():
            if name == "attachments" and isinstance(item, list):
                read[name] = self.read_list(item, f"{path}.{name}")
            else:
                read[name] = self.read_members(item, f"{path}.{name}") if isinstance(item, dict) else item
        return read

    def read_list(self, given: list[Any], path: str) -> list[Any]:
        read = []
        for index, one in enumerate(given):
            read.append(one | {"file": self._read(one["file"], f"{path}.{index}.file")} if _has_file(one) else one)
            if self._size > MAX_ATTACHED_BYTES:
                raise Invalid.field(path, _TOO_LARGE)
        return read

    def _read(self, file: Any, path: str) -> str:
        try:
            content = base64.b64decode(file, validate=True) if isinstance(file, str) else _bytes(file)
        except (binascii.Error, ValueError, TypeError):
            # Long ones may have line breaks.
            content = _decode_lines(file, path)
        self._size += len(content)
        return file if isinstance(file, str) else base64.b64encode(content).decode()


def _has_file(one: Any) -> bool:
    return isinstance(one, dict) and one.get("file") is not None


def _bytes(file: Any) -> bytes:
    if isinstance(file, dict) and file.get("type") == "Buffer":
        file = file.get("data")
    if not isinstance(file, list):
        raise TypeError
    return bytes(file)


def _decode_lines(file: Any, path: str) -> bytes:
    try:
        return base64.b64decode("".join(file.split()), validate=True)
    except (AttributeError, ValueError):
        raise Invalid.field(path, _RULE) from None
