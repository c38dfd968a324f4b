"""Links as people are shown them: without what opens something for whoever has it."""

import re
from typing import Final
from urllib.parse import urlsplit

MASK: Final = "***"
_SECRET_NAMES: Final = re.compile(
    r"token|secret|sig|key|pass|pwd|auth|code|otp|hmac|hash|jwt|session|ticket|nonce|credential", re.IGNORECASE
)
_LONG_VALUE: Final = re.compile(r"[A-Za-z0-9+/_.~%=-]{32,}")
"""Values of this kind are rarely words."""


def show_link(target: str) -> str:
    """Return a link without user, and with masked values of parameters that are secret by their name or their look."""
    parts = urlsplit(target)
    host = parts.netloc.rpartition("@")[2]
    path = "/".join(MASK if _LONG_VALUE.fullmatch(one) and not _is_words(one) else one for one in parts.path.split("/"))
    query = "&".join(map(_show_parameter, parts.query.split("&")))
    # Some services put a token there, which programs see that run in a page.
    fragment = MASK if "=" in parts.fragment else parts.fragment
    return parts._replace(netloc=host, path=path, query=query, fragment=fragment).geturl()


def _show_parameter(parameter: str) -> str:
    name, sign, value = parameter.partition("=")
    if not sign:
        return MASK if _LONG_VALUE.fullmatch(parameter) else parameter
    is_secret = _SECRET_NAMES.search(name) or (_LONG_VALUE.fullmatch(value) and not _is_words(value))
    return f"{name}={MASK}" if is_secret and value else parameter


def _is_words(text: str) -> bool:
    """Whether a text is made of short words or numbers, as the name of an article is."""
    return all(len(word) < 20 for word in re.split(r"[-_.+~]|%20", text))
