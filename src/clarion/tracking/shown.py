"""Links as people are shown them: without what opens something for whoever has it."""

import re
from collections.abc import Iterator
from itertools import takewhile
from typing import Final
from urllib.parse import urlsplit

MASK: Final = "…"
_PLAIN: Final = re.compile(r"[A-Za-z0-9._-]{0,5}|[A-Za-z._-]{0,15}|[a-z]{1,15}(?:[._-][a-z]{1,15})*")
"""Names and titles; a token is longer, and has digits or letters of both cases."""
_SEPARATOR: Final = re.compile("[&;]")


def show_link(target: str) -> str:
    """Return the host of a link, its path up to what may be secret, and the names of its parameters."""
    parts = urlsplit(target)
    host, segments = parts.netloc.rpartition("@")[2], parts.path.split("/")
    shown = list(takewhile(_PLAIN.fullmatch, segments))
    path = "/".join(shown if len(shown) == len(segments) else [*shown, MASK])
    query = "&".join(_show_parameters(parts.query))
    return parts._replace(netloc=host, path=path, query=query, fragment="").geturl()


def _show_parameters(query: str) -> Iterator[str]:
    for parameter in _SEPARATOR.split(query) if query else ():
        name, sign, _ = parameter.partition("=")
        # Without a sign, the name may be the value.
        yield f"{name}={MASK}" if sign and _PLAIN.fullmatch(name) else MASK
