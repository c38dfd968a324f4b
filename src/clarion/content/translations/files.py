"""Uploaded files of texts: what their names and contents say, and what is wrong with them."""

import re
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from clarion.content.translations.wire import TranslationLocale
from clarion.errors import RequestError
from clarion.http.limits import check_nesting
from clarion.http.wire import UploadedFile

_NAME: Final = re.compile(r"([^/\\]+)\.json", re.IGNORECASE)
_MAX_SHOWN: Final = 100

_decode = msgspec.json.Decoder(dict[str, Any]).decode


def find_locale_of(file: UploadedFile) -> str | None:
    """Return the language that a file is named by, or None: `de_DE.json` has German texts."""
    match = _NAME.fullmatch(file.name)
    return TranslationLocale(match[1]).normal if match and TranslationLocale.accepts(match[1]) else None


def read_texts(file: UploadedFile) -> Mapping[str, Any] | str:
    """Return the JSON object in a file, or what is wrong with it."""
    try:
        check_nesting(file.content)
        content = _decode(file.content)
    except RequestError as error:
        return error.message
    except (msgspec.DecodeError, UnicodeDecodeError):
        return "is not a JSON object"
    if b"\\u0000" in file.content:
        return "must not contain the character U+0000"
    return content


def shown_name(file: UploadedFile) -> str:
    """The name of a file in a message."""
    return file.name[:_MAX_SHOWN]
