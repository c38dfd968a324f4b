"""Forms with files, as `multipart/form-data`: read whole, within limits, into a shape like other bodies.

A member of the shape that is an `UploadedFile`, or a list of them, takes files; all others take texts.
"""

import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeVar
from urllib.parse import parse_qsl

import msgspec

from clarion.errors import Invalid, Malformed, NotJson, Problem
from clarion.http.input.unknown import Contract, InputWarning
from clarion.http.input.validation import find_problems, unknown_member
from clarion.http.wire import UploadedFile, Wire, parse_checked

T = TypeVar("T", bound=Wire)

MULTIPART: Final = "multipart/form-data"
MAX_PARTS: Final = 120
"""Texts and files of one form together."""
MAX_TEXT: Final = 4_096
"""Bytes of a text; files are limited by the body."""
_MAX_HEADERS: Final = 8
_MAX_HEADER: Final = 2_048
_PLAIN_ENCODINGS: Final = (b"", b"7bit", b"8bit", b"binary")

FormReader = Callable[[bytes, bytes, list[InputWarning]], T]
"""Takes the content type and the body."""


def make_form_reader(shape: type[T], contract: Contract) -> FormReader[T]:
    """Returns a function that reads a form into `shape`; it raises Malformed, NotJson, or Invalid with all problems."""

    def read(content_type: bytes, body: bytes, warnings: list[InputWarning]) -> T:
        hints = typing.get_type_hints(shape, include_extras=True)
        kinds = {field.encode_name: hints[field.name] for field in msgspec.structs.fields(shape)}
        given, problems = _gather(read_parts(content_type, body), kinds, contract, warnings)
        values = {}
        for field in msgspec.structs.fields(shape):
            name = field.encode_name
            if name not in given and field.required and name not in problems:
                problems[name] = [Problem("is required")]
            elif name in given:
                values[field.name] = _read_member(name, given[name], kinds[name], problems)
        if problems:
            raise Invalid(problems)
        return shape(**values)

    return read


class Part:
    """A text, or a file if it has a name of one."""

    def __init__(self) -> None:
        self.headers: dict[bytes, bytes] = {}
        self.content = bytearray()
        self.name = ""
        self.file_name: str | None = None


Parts = Sequence[Part]


def _gather(
    parts: Parts, kinds: dict[str, Any], contract: Contract, warnings: list[InputWarning]
) -> tuple[dict[str, list[Part]], dict[str, list[Problem]]]:
    """The parts of each member, and what is wrong with their names and forms."""
    given: dict[str, list[Part]] = {}
    problems: dict[str, list[Problem]] = {}
    for part in parts:
        name = part.name.removesuffix("[]")
        if name not in kinds:
            unknown = unknown_member(name[:100], kinds)
            if contract is Contract.OWN:
                problems[name[:100]] = [unknown]
            else:
                warnings.append(InputWarning(name[:100], unknown.message))
        elif _takes_files(kinds[name]) is not (part.file_name is not None):
            what = "a file with a name" if _takes_files(kinds[name]) else "a text, not a file"
            problems[name] = [Problem(f"must be {what}")]
        elif name in given and not _takes_many(kinds[name]):
            problems[name] = [Problem("must be given once")]
        else:
            given.setdefault(name, []).append(part)
    return given, problems


def _read_member(name: str, parts: list[Part], kind: Any, problems: dict[str, list[Problem]]) -> Any:
    if _takes_files(kind):
        files = [UploadedFile(part.file_name or "", bytes(part.content)) for part in parts]
        return files if _takes_many(kind) else files[0]
    try:
        text = parts[0].content.decode()
        if len(text) > MAX_TEXT or "\0" in text:
            raise ValueError
    except ValueError:
        problems[name] = [Problem(f"must be a text of at most {MAX_TEXT} characters in UTF-8, without U+0000")]
        return None
    refused = [problem for _, problem in find_problems(text, kind, name)]
    if refused:
        problems[name] = refused
        return None
    return msgspec.convert(text, kind, dec_hook=parse_checked)


def _takes_files(kind: Any) -> bool:
    return kind is UploadedFile or UploadedFile in typing.get_args(kind)


def _takes_many(kind: Any) -> bool:
    return typing.get_origin(kind) is list


def read_fields(headers: Mapping[bytes, bytes], body: bytes, *, limit: int) -> dict[str, list[str]]:
    """Read the texts of a form in either encoding; none if it is something else, or has more than the limit."""
    content_type = headers.get(b"content-type", b"")
    media_type = content_type.partition(b";")[0].strip().lower().decode("latin-1")
    fields: dict[str, list[str]] = {}
    try:
        for name, value in _list_fields(media_type, content_type, body, limit):
            fields.setdefault(name, []).append(value)
    except (Malformed, NotJson, ValueError):
        return {}
    return fields


def _list_fields(media_type: str, content_type: bytes, body: bytes, limit: int) -> list[tuple[str, str]]:
    if media_type == "application/x-www-form-urlencoded":
        return parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=limit)
    if media_type == MULTIPART:
        parts = [part for part in read_parts(content_type, body) if part.file_name is None]
        return [(part.name, part.content.decode("utf-8", "replace")) for part in parts]
    return []


def read_parts(content_type: bytes, body: bytes) -> Parts:
    """Return the parts of a form, whatever their names; raises Malformed or NotJson."""
    # Few requests are forms, so the parser is loaded with the first one.
    from python_multipart.exceptions import FormParserError  # noqa: PLC0415
    from python_multipart.multipart import MultipartParser, parse_options_header  # noqa: PLC0415

    media_type, options = parse_options_header(content_type)
    boundary = options.get(b"boundary", b"")
    if media_type.lower() != MULTIPART.encode() or not boundary:
        raise NotJson(f"Send the body as a form, with the header Content-Type: {MULTIPART}; boundary=…")
    parts = _Parts(parse_options_header)
    try:
        parser = MultipartParser(
            boundary, parts.callbacks(), max_header_count=_MAX_HEADERS, max_header_size=_MAX_HEADER
        )
        parser.write(body)
        parser.finalize()
    except FormParserError as error:
        raise Malformed(f"The body is not a valid form: {error}") from None
    if not parts.has_ended:
        raise Malformed("The body is not a valid form: its last part has no end")
    return parts.all


class _Parts:
    """Collects what the parser reports."""

    def __init__(self, parse_options: Callable[[bytes], tuple[bytes, dict[bytes, bytes]]]) -> None:
        self.all: list[Part] = []
        self.has_ended = False
        self._parse_options = parse_options
        self._field = bytearray()
        self._value = bytearray()

    def callbacks(self) -> Any:
        return {
            "on_part_begin": self._begin,
            "on_header_field": lambda data, start, end: self._field.extend(data[start:end]),
            "on_header_value": lambda data, start, end: self._value.extend(data[start:end]),
            "on_header_end": self._end_header,
            "on_headers_finished": self._read_headers,
            "on_part_data": lambda data, start, end: self.all[-1].content.extend(data[start:end]),
            "on_end": self._end,
        }

    def _begin(self) -> None:
        if len(self.all) >= MAX_PARTS:
            raise Malformed(f"The form has more than the {MAX_PARTS} parts that an operation takes")
        self.all.append(Part())

    def _end_header(self) -> None:
        self.all[-1].headers[bytes(self._field).lower()] = bytes(self._value)
        self._field.clear()
        self._value.clear()

    def _read_headers(self) -> None:
        part = self.all[-1]
        disposition, options = self._parse_options(part.headers.get(b"content-disposition", b""))
        encoding = part.headers.get(b"content-transfer-encoding", b"").strip().lower()
        if disposition.lower() != b"form-data" or b"name" not in options:
            raise Malformed("The body is not a valid form: each part needs a Content-Disposition with a name")
        if encoding not in _PLAIN_ENCODINGS:
            raise Malformed("The body is not a valid form: parts must not be encoded")
        part.name = options[b"name"].decode("utf-8", "replace")
        file_name = options.get(b"filename")
        part.file_name = None if file_name is None else file_name.decode("utf-8", "replace")

    def _end(self) -> None:
        self.has_ended = True
