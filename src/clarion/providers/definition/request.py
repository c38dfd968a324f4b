"""Requests to providers over HTTP: what a provider says, and the bytes that it becomes."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from hashlib import sha256
from typing import Any, Self
from urllib.parse import quote, urlencode

from clarion.jsontext import encode_json
from clarion.providers.definition.overrides import deep_merge
from clarion.providers.definition.single_line import one_line
from clarion.secret import Secret

_SHORTEST_SECRET = 8

Headers = Mapping[str, str]
Fields = Mapping[str, Any]


class Encoding(Enum):
    NONE = ""
    JSON = "application/json"
    FORM = "application/x-www-form-urlencoded"
    MULTIPART = "multipart/form-data"
    RAW = "raw"


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """A part of a multipart body that is a file."""

    part: str
    """The name of the form's field."""
    name: str
    type: str
    content: bytes = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderRequest:
    """One call as a provider describes it; triggers may add to body, query and headers, but not to `auth`."""

    url: str = field(repr=False)
    method: str = "POST"
    encoding: Encoding = Encoding.NONE
    body: Any = field(default=None, repr=False)
    files: tuple[File, ...] = ()
    query: Fields = field(default_factory=dict, repr=False)
    headers: Headers = field(default_factory=dict, repr=False)
    auth: Headers = field(default_factory=dict, repr=False)

    @classmethod
    def get(cls, url: str, query: Fields | None = None, *, auth: Headers | None = None) -> Self:
        return cls(url=url, method="GET", query=query or {}, auth=auth or {})

    @classmethod
    def json(cls, url: str, body: Any, *, auth: Headers | None = None, headers: Headers | None = None) -> Self:
        return cls(url=url, encoding=Encoding.JSON, body=body, auth=auth or {}, headers=headers or {})

    @classmethod
    def form(cls, url: str, fields: Fields, *, auth: Headers | None = None, headers: Headers | None = None) -> Self:
        """Fields in the order given; a list repeats its field."""
        return cls(url=url, encoding=Encoding.FORM, body=fields, auth=auth or {}, headers=headers or {})

    @classmethod
    def multipart(cls, url: str, fields: Fields, *, files: Sequence[File] = (), auth: Headers | None = None) -> Self:
        return cls(url=url, encoding=Encoding.MULTIPART, body=fields, files=tuple(files), auth=auth or {})

    @classmethod
    def raw(cls, url: str, content: bytes, *, content_type: str, auth: Headers | None = None) -> Self:
        headers = {"Content-Type": content_type}
        return cls(url=url, encoding=Encoding.RAW, body=content, auth=auth or {}, headers=headers)

    def with_query(self, **parameters: Any) -> Self:
        return replace(self, query={**self.query, **parameters})

    def merged(self, *, body: Fields, headers: Headers, query: Fields) -> Self:
        """With what a trigger adds; a body of bytes stays as it is."""
        mergeable = body and isinstance(self.body, Mapping)
        return replace(
            self,
            body=deep_merge(self.body, body) if mergeable else self.body,
            headers={**self.headers, **headers},
            query={**self.query, **query},
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderCall:
    """A request as it goes over the wire: what is signed is what is sent."""

    method: str
    url: str = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    content: bytes = field(repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)
    """Header values that must not come back in an answer that is kept."""

    def signed(self, headers: Headers) -> Self:
        """With these headers, whatever a trigger has put under their names in another case."""
        taken = {name.lower() for name in headers}
        others = {name: value for name, value in self.headers.items() if name.lower() not in taken}
        return replace(self, headers={**others, **headers}, secrets=(*self.secrets, *headers.values()))

    def without_secrets(self, answer: bytes) -> str:
        """The text of an answer without what was sent to prove who we are, should the answer repeat it."""
        text = answer.decode("utf-8", errors="replace")
        for secret in self.secrets:
            # With and without the word in front of it, such as Bearer.
            for one in (secret, secret.rpartition(" ")[2]):
                if len(one) >= _SHORTEST_SECRET:
                    text = text.replace(one, "***")
        return text


def encode_call(request: ProviderRequest) -> ProviderCall:
    """The bytes of a request; its `auth` wins over every other header of the same name."""
    content, content_type = _encode_body(request)
    given = ({"Content-Type": content_type} if content_type else {}) | dict(request.headers)
    taken = {name.lower() for name in request.auth}
    headers = {name: one_line(value) for name, value in given.items() if name.lower() not in taken}
    return ProviderCall(
        method=request.method,
        url=_url(request),
        headers=headers | {name: one_line(value) for name, value in request.auth.items()},
        content=content,
        secrets=tuple(request.auth.values()),
    )


def basic(user: str, password: Secret) -> Headers:
    token = base64.b64encode(f"{user}:{password.reveal()}".encode()).decode()
    return {"Authorization": f"Basic {token}"}


def bearer(token: Secret) -> Headers:
    return {"Authorization": f"Bearer {token.reveal()}"}


def key_header(name: str, key: Secret, *, scheme: str = "") -> Headers:
    """A header of the provider's own choice: `key_header("Authorization", key, scheme="App")`."""
    return {name: f"{scheme} {key.reveal()}".lstrip()}


def filled(fields: Fields) -> dict[str, Any]:
    """Without the fields that have nothing to say: many providers refuse empty texts and lists."""
    return {name: value for name, value in fields.items() if value is not None and value not in ("", [], {}, ())}


def path_part(text: str, *, safe: str = "") -> str:
    """A text as one part of a URL's path."""
    return quote(text, safe=safe)


def _url(request: ProviderRequest) -> str:
    if not request.query:
        return request.url
    # Spaces as %20 and not as +, which is the same to servers and safe to sign.
    query = urlencode(_pairs(request.query), quote_via=quote)
    return f"{request.url}{'&' if '?' in request.url else '?'}{query}"


def _encode_body(request: ProviderRequest) -> tuple[bytes, str]:
    match request.encoding:
        case Encoding.JSON:
            return encode_json(request.body), Encoding.JSON.value
        case Encoding.FORM:
            return urlencode(_pairs(request.body), quote_via=quote).encode(), Encoding.FORM.value
        case Encoding.MULTIPART:
            return _encode_multipart(request)
        case Encoding.RAW:
            return bytes(request.body), ""
        case Encoding.NONE:
            return b"", ""


def _pairs(fields: Fields) -> list[tuple[str, str]]:
    return [
        (name, str(one))
        for name, value in fields.items()
        for one in (value if isinstance(value, list | tuple) else (value,))
    ]


def _encode_multipart(request: ProviderRequest) -> tuple[bytes, str]:
    parts = [(f'form-data; name="{_quoted(name)}"', "", value.encode("utf-8")) for name, value in _pairs(request.body)]
    for file in request.files:
        disposition = f'form-data; name="{_quoted(file.part)}"; filename="{_quoted(file.name)}"'
        parts.append((disposition, f"Content-Type: {one_line(file.type)}\r\n", file.content))
    # From the content itself: the same message is the same bytes, and no part can hold it but by intent.
    boundary = "clarion" + sha256(b"".join(content for _, _, content in parts)).hexdigest()[:32]
    chunks = [
        f"--{boundary}\r\nContent-Disposition: {disposition}\r\n{content_type}\r\n".encode() + content + b"\r\n"
        for disposition, content_type, content in parts
    ]
    return b"".join(chunks) + f"--{boundary}--\r\n".encode(), f"{Encoding.MULTIPART.value}; boundary={boundary}"


def _quoted(text: str) -> str:
    return one_line(text).replace("\\", "\\\\").replace('"', "%22")
