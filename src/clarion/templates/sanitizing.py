"""Removing what is dangerous from texts that an inbox may show as HTML.

Inboxes show a text either as it is or as HTML, and we cannot know which. A text without HTML is safe in both and stays
as it is: `a < b`, `Ada <ada@example.com>`. A text with HTML is parsed as browsers do, and only harmless markup is left.
"""

import re
from typing import Final

import nh3

from clarion.templates.parsing import TemplateProblem
from clarion.work import MAX_TEXT_WORK, allow_work, spend_work

# Matches up to the end of each tag, also of one that is not closed, so that a text is read once whatever it contains.
_TAG: Final = re.compile(r"<(?:[!?]|/?([a-zA-Z][^\s/>]*))[^>]*(>?)")
_TAG_START: Final = re.compile(r"<(?:[!?]|/?([a-zA-Z][^\s/>]*)?)")
# With the elements that do something without any attribute.
_ELEMENTS: Final = frozenset(nh3.ALLOWED_TAGS) | {
    *("applet", "audio", "base", "body", "button", "canvas", "dialog", "embed", "fieldset", "font", "form", "frame"),
    *("frameset", "head", "html", "iframe", "image", "input", "label", "legend", "link", "listing", "main", "marquee"),
    *("math", "menu", "meta", "noembed", "noframes", "noscript", "object", "optgroup", "option", "picture"),
    *("plaintext", "script", "section", "select", "slot", "source", "style", "svg", "template", "textarea", "tfoot"),
    *("title", "track", "video", "xmp"),
}
_ATTRIBUTES: Final = nh3.ALLOWED_ATTRIBUTES | {"a": {"href", "hreflang", "target"}}
_CLEANER: Final = nh3.Cleaner(attributes=_ATTRIBUTES)

_USUAL_LINKS: Final = ("https://", "http://", "/")
_SCRIPT_SCHEMES: Final = ("javascript:", "vbscript:", "data:")
# Browsers ignore these characters in front of a scheme, and some of them inside.
_IGNORED_IN_LINKS: Final = re.compile(r"[\x00-\x20\x7f-\x9f]+")


def sanitize_text(text: str) -> str:
    """Return the text with harmless markup only; a text without HTML is returned unchanged.

    Raises TemplateProblem for a text whose markup takes too much work.
    """
    if "<" not in text:
        return text
    work = _estimate_work(text)
    if work > allow_work(MAX_TEXT_WORK):
        raise TemplateProblem("its HTML takes too much work to be checked; it has too many tags or attributes")
    spend_work(work)
    return _CLEANER.clean(_escape_other_brackets(text)) if _has_html(text) else text


def _estimate_work(text: str) -> int:
    tags, attributes = text.count("<"), text.count("=")
    # The parser looks through all open tags for a new one, and through all attributes of a tag.
    return (len(text) >> 5) + tags + ((tags * tags + attributes * attributes) >> 10)


def is_script_link(url: str) -> bool:
    """Return whether following the link runs code or opens a page that the link itself contains."""
    return not url.startswith(_USUAL_LINKS) and (_IGNORED_IN_LINKS.sub("", url).lower().startswith(_SCRIPT_SCHEMES))


def _has_html(text: str) -> bool:
    """Return whether a text has a complete tag of a known element, or anything that may be an attribute."""
    return any(
        "=" in tag[0] or (tag[2] and (tag[1] is None or tag[1].lower() in _ELEMENTS)) for tag in _TAG.finditer(text)
    )


def _escape_other_brackets(text: str) -> str:
    """Escape what is no tag; the parser would drop it together with the words in it."""
    last_end = text.rfind(">")

    def escape(start: re.Match[str]) -> str:
        name = start[1]
        is_tag = name.lower() in _ELEMENTS if name else start[0] in ("<!", "<?")
        return start[0] if is_tag and start.start() < last_end else "&lt;" + start[0][1:]

    return _TAG_START.sub(escape, text)
