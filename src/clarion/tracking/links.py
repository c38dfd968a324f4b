"""The links and the image of tracked e-mails: signed with their targets, and put into the HTML.

A token has all that is needed to redirect, so that nothing is stored when a mail is sent, and nobody can make one up.
"""

import html
import re
from collections.abc import Callable, Iterator
from itertools import count
from typing import Final
from urllib.parse import quote, urlsplit

from msgspec import Struct

from clarion.answers.model import ANSWER_PATH
from clarion.clock import Millis
from clarion.content.environment import EnvironmentContent
from clarion.content.links import LinkPurpose, LinkSecret, read_link, sign_link
from clarion.ids import MessageId, id_millis
from clarion.preferences.unsubscribe.targets import PREFERENCES_PATH, UNSUBSCRIBE_PATH
from clarion.tracking.model import Tracking

CLICK_PATH: Final = "/t/c/"
OPEN_PATH: Final = "/t/o/"
MAX_TARGET: Final = 2_000
"""Bytes of a target; longer ones are left alone, because some programs cut links of more than some thousand."""

_OWN_PATHS: Final = ("/t/", f"{UNSUBSCRIBE_PATH}?", f"{PREFERENCES_PATH}?", f"{ANSWER_PATH}?")
_ID_BYTES: Final = 16
_PLACE_BYTES: Final = 2
_MAX_POSITION: Final = 0x3FFF
"""As a number of two bytes it begins with another byte than any target, so that a token can be without it."""
# Everything in which a link is no link is one token. Linear time: what is not closed extends to the end, and tags do
# not give back what they have taken.
_TOKEN: Final = re.compile(
    r"<!--(?:.*?-->|.*\Z)"
    r"|<(script|style|template|title|textarea|noscript|xmp)(?=[\s/>])(?:.*?</\1\s*>|.*\Z)"
    r"|<a(?=[\s/])((?:[^<>\"']++|\"[^\"]*+\"|'[^']*+')*+)>",
    re.IGNORECASE | re.DOTALL,
)
_ATTRIBUTE: Final = re.compile(r"([^\s\"'<>/=]++)(?:\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\s\"'<>]++)))?")
_BODY_END: Final = re.compile(r"</body\s*>", re.IGNORECASE)
_SAFE: Final = "%/:?#[]@!$&'()*+,;=~-._"
# In attributes, browsers read only references with a semicolon reliably: `&copy=1` is a parameter.
_REFERENCE: Final = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
# Browsers take these out of a link, or read them in another way than they are written.
_UNUSUAL: Final = re.compile(r"[\x00-\x1f\x7f\\]")
_SCHEMES: Final = ("http://", "https://")


class SentLink(Struct, frozen=True):
    """What a token says."""

    message_id: MessageId
    target: str = ""
    """Where a click goes; empty for opens."""
    position: int | None = None
    """Which link of the mail it is, the first being 1; None for opens, and where a mail has too many."""

    @property
    def made_at(self) -> Millis:
        """When the message was made: shortly before it is sent, unless its provider is away."""
        return id_millis(self.message_id)


def find_links(content: EnvironmentContent, public_url: str | None) -> "TrackedLinks | None":
    """Return what makes the links of an environment; None if there is no address that they could lead to."""
    if public_url is None or content.link_secret is None:
        return None
    public = public_url.rstrip("/")
    base = make_base(public, content.tracking.domain)
    own = tuple(one + path for one in dict.fromkeys((public, base)) for path in _OWN_PATHS)
    return TrackedLinks(secret=content.link_secret, base=base, own=own)


def make_base(public_url: str, domain: str | None) -> str:
    """Return the public address with another host."""
    if domain is None:
        return public_url.rstrip("/")
    parts = urlsplit(public_url.rstrip("/"))
    return parts._replace(netloc=domain if parts.port is None else f"{domain}:{parts.port}").geturl()


class TrackedLinks(Struct, frozen=True, kw_only=True):
    """Makes the links of one environment."""

    secret: LinkSecret
    base: str
    """The public address, with the host of the environment if it has one."""
    own: tuple[str, ...] = ()
    """Beginnings of links to pages of this installation, such as those to unsubscribe, which are left alone."""

    def make_rewriter(self, message_id: MessageId, tracking: Tracking) -> Callable[[str], str]:
        """Return a function that puts the links and the image of a message into its HTML.

        It returns the same for every attempt: providers refuse another mail under the same idempotency key.
        """

        def rewrite(document: str) -> str:
            if tracking.clicks:
                positions = count(1)
                document = replace_links(document, lambda one: self._make_link(message_id, one, next(positions)))
            return add_image(document, self._make_image(message_id)) if tracking.opens else document

        return rewrite

    def _make_link(self, message_id: MessageId, target: str, position: int) -> str | None:
        if target.startswith(self.own):
            return None
        place = position.to_bytes(_PLACE_BYTES, "big") if position <= _MAX_POSITION else b""
        data = message_id + place + target.encode()
        return f"{self.base}{CLICK_PATH}{sign_link(self.secret, LinkPurpose.CLICK, data)}"

    def _make_image(self, message_id: MessageId) -> str:
        address = f"{self.base}{OPEN_PATH}{sign_link(self.secret, LinkPurpose.OPEN, message_id)}"
        return f'<img src="{address}" width="1" height="1" alt="" style="border:0;width:1px;height:1px">'


def read_click(secret: LinkSecret, token: str) -> SentLink | None:
    """Return what the token of a click says; None if it is none of this environment."""
    data = read_link(secret, LinkPurpose.CLICK, token)
    if data is None or len(data) <= _ID_BYTES + _PLACE_BYTES:
        return None
    message_id, place, rest = data[:_ID_BYTES], data[_ID_BYTES:][:_PLACE_BYTES], data[_ID_BYTES + _PLACE_BYTES :]
    position = int.from_bytes(place, "big")
    if position > _MAX_POSITION:
        position, rest = 0, place + rest
    target = find_target(rest.decode("latin-1"))
    return None if target is None else SentLink(MessageId(message_id), target, position or None)


def read_open(secret: LinkSecret, token: str) -> SentLink | None:
    """Return what the token of an image says; None if it is none of this environment."""
    data = read_link(secret, LinkPurpose.OPEN, token)
    return SentLink(MessageId(data)) if data is not None and len(data) == _ID_BYTES else None


def find_target(text: str) -> str | None:
    """Return a link as it is sent in the head of a redirect; None if it is none that is followed through us."""
    link = text.strip()
    if not link.lower().startswith(_SCHEMES) or _UNUSUAL.search(link):
        return None
    try:
        host = urlsplit(link).hostname
    except ValueError:
        return None
    if not host or not host.isascii():
        return None
    target = quote(link, safe=_SAFE)
    return target if len(target) <= MAX_TARGET else None


def replace_links(document: str, make: Callable[[str], str | None]) -> str:
    """Replace the targets of `<a href>`, and nothing else; those for which `make` returns None stay."""
    pieces: list[str] = []
    position = 0
    for start, end, target in _list_targets(document):
        link = make(target)
        if link is not None:
            pieces += (document[position:start], link)
            position = end
    pieces.append(document[position:])
    return "".join(pieces)


def add_image(document: str, image: str) -> str:
    """Put the image at the end of what is shown."""
    place = max((found.start() for found in _BODY_END.finditer(document)), default=len(document))
    return document[:place] + image + document[place:]


def _list_targets(document: str) -> Iterator[tuple[int, int, str]]:
    """Yield where the value of each `href` begins and ends, and its target."""
    for token in _TOKEN.finditer(document):
        if token[2] is None:
            continue
        for attribute in _ATTRIBUTE.finditer(document, token.start(2), token.end(2)):
            if attribute[1].lower() == "href":
                # Of several attributes with one name, the first counts.
                group = attribute.lastindex or 1
                target = find_target(_unescape(attribute[group])) if group > 1 else None
                if target is not None:
                    yield attribute.start(group), attribute.end(group), target
                break


def _unescape(value: str) -> str:
    return _REFERENCE.sub(lambda found: html.unescape(found[0]), value)
