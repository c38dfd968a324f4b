"""Conditional changes: a response has the ETag of a resource, and `If-Match` refuses to change a newer state of it."""

import re
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

import msgspec
from msgspec import Struct

from clarion.errors import Invalid

_IF_MATCH = b"if-match"
_TAG = re.compile(r'(?:W/)?"([!#-~]*)"|([!#-+\--~]+)')
_RULE = 'must be "*", or ETags such as "5f0a4c1e5d55" with commas between them'


class IfMatch(Struct, frozen=True):
    """The states that a caller is willing to change; None: any."""

    tags: frozenset[str] | None = None

    def accepts(self, etag: str) -> bool:
        return self.tags is None or etag in self.tags


class _Tagged(Struct, frozen=True):
    etag: str | None = None


_TAGGED = msgspec.json.Decoder(_Tagged)


def make_etag(*parts: Any) -> str:
    """A short text that is another one if one of the parts is another one."""
    return blake2b(msgspec.json.encode(parts), digest_size=12).hexdigest()


def etag_headers(etag: str | None) -> list[tuple[bytes, bytes]]:
    return [] if etag is None else [(b"etag", b'"' + etag.encode() + b'"')]


def read_etag(body: bytes) -> str | None:
    """The member `etag` of an encoded response, which may be one that an older version stored."""
    return _TAGGED.decode(body).etag


def conditions_of(headers: Mapping[bytes, bytes]) -> list[bytes]:
    """The condition of a request, if there is one: the same change under another condition is another request."""
    condition = headers.get(_IF_MATCH)
    return [] if condition is None else [condition]


def read_if_match(headers: Mapping[bytes, bytes]) -> IfMatch:
    """Read the header `If-Match`; raises Invalid.

    Weak tags are taken too, because proxies that compress make tags weak, and so are tags without quotes, as the member
    `etag` of a body has them.
    """
    text = headers.get(_IF_MATCH, b"*").decode("latin-1").strip()
    return IfMatch(None if text == "*" else frozenset(_read_tag(one.strip(), text) for one in text.split(",")))


def _read_tag(tag: str, text: str) -> str:
    match = _TAG.fullmatch(tag)
    if match is None:
        raise Invalid.field(_IF_MATCH.decode(), _RULE, text)
    return match[1] or match[2] or ""
