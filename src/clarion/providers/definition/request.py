"""HTTP requests to providers, their encoding as bytes, and the sizes that providers limit."""

import base64
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from hashlib import sha256
from typing import Any, ClassVar, NamedTuple, Self
from urllib.parse import quote, urlencode

from msgspec import field
from msgspec.structs import replace

from clarion.jsontext import encode_json
from clarion.providers.definition.outgoing import always
from clarion.providers.definition.overrides import deep_merge
from clarion.providers.definition.result import FailureKind, SendFailure
from clarion.secret import PartlyPrinted, Secret

_BREAKS = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]+")
_SHORTEST_SECRET = 8
Headers = Mapping[str, str]
Fields = Mapping[str, Any]


class Encoding(Enum):
    NONE = ""
    JSON = "application/json"
    FORM = "application/x-www-form-urlencoded"
    MULTIPART = "multipart/form-data"
    RAW = "raw"


class File(PartlyPrinted, frozen=True, kw_only=True):
    """A file in a multipart body."""

    PRINTED: ClassVar = ("part", "name", "type")
    part: str
    """The name of the form field."""
    name: str
    type: str
    content: bytes


class ProviderRequest(PartlyPrinted, frozen=True, kw_only=True):
    """A request as a provider module builds it; triggers can add to body, query and headers, but not to `auth`."""

    PRINTED: ClassVar = ("method", "encoding", "files")
    url: str
    method: str = "POST"
    encoding: Encoding = Encoding.NONE
    body: Any = None
    files: tuple[File, ...] = ()
    query: Fields = field(default_factory=dict)
    headers: Headers = field(default_factory=dict)
    auth: Headers = field(default_factory=dict)
    takes_token: bool = True
    """Whether the access token of the account goes with it, where the provider has one."""

    @classmethod
    def get(cls, url: str, query: Fields | None = None, *, auth: Headers | None = None) -> Self:
        return cls(url=url, method="GET", query=query or {}, auth=auth or {})

    @classmethod
    def json(cls, url: str, body: Any, *, auth: Headers | None = None, headers: Headers | None = None) -> Self:
        return cls(url=url, encoding=Encoding.JSON, body=body, auth=auth or {}, headers=headers or {})

    @classmethod
    def form(cls, url: str, fields: Fields, *, auth: Headers | None = None, headers: Headers | None = None) -> Self:
        """Build a form with the fields in the given order; a list repeats its field."""
        return cls(url=url, encoding=Encoding.FORM, body=fields, auth=auth or {}, headers=headers or {})

    @classmethod
    def multipart(cls, url: str, fields: Fields, *, files: Sequence[File] = ()) -> Self:
        return cls(url=url, encoding=Encoding.MULTIPART, body=fields, files=tuple(files))

    def with_query(self, **parameters: Any) -> Self:
        return replace(self, query={**self.query, **parameters})

    def merged(
        self, *, body: Fields, headers: Headers, query: Fields, merge: Callable[[Any, Any], Any] = deep_merge
    ) -> Self:
        """Return the request with a trigger's additions; a body that is not an object stays as it is."""
        is_mergeable = body and isinstance(self.body, Mapping)
        return replace(
            self,
            body=merge(self.body, body) if is_mergeable else self.body,
            headers={**self.headers, **headers},
            query={**self.query, **query},
        )


class ProviderCall(PartlyPrinted, frozen=True, kw_only=True):
    """An encoded request; signatures are computed over exactly these bytes."""

    PRINTED: ClassVar = ("method",)
    method: str
    url: str
    headers: Mapping[str, str]
    content: bytes
    secrets: tuple[str, ...] = ()
    """Header values that are removed from answers before these are stored."""
    can_start: Callable[[], bool] = always
    """Whether the call may still be made, asked when it has its connection."""
    seconds: float | None = None
    """How long the answer is waited for, if shorter than for others."""

    def with_auth(self, headers: Headers) -> Self:
        """Return the call with these authentication headers; they replace those of the same name in any case."""
        replaced = {name.lower() for name in headers}
        others = {name: value for name, value in self.headers.items() if name.lower() not in replaced}
        return replace(self, headers={**others, **headers}, secrets=(*self.secrets, *headers.values()))

    def without_secrets(self, answer: bytes) -> str:
        """Decode an answer and replace our authentication headers in it, if the provider echoes them."""
        text = answer.decode("utf-8", errors="replace")
        for secret in self.secrets:
            # With and without the scheme in front, such as Bearer.
            for form in (secret, secret.rpartition(" ")[2]):
                if len(form) >= _SHORTEST_SECRET:
                    text = text.replace(form, "***")
        return text


class Size(NamedTuple):
    """The size of a part of a request, and the largest that the provider accepts."""

    what: str
    bytes: int
    limit: int


def encode_call(
    request: ProviderRequest, can_start: Callable[[], bool] = always, *, auth: Headers | None = None
) -> ProviderCall:
    """Encode a request; `auth`, of the account or of the request, overrides other headers of the same name."""
    auth = {**auth, **request.auth} if auth else request.auth
    content, content_type = _encode_body(request)
    given = ({"Content-Type": content_type} if content_type else {}) | dict(request.headers)
    replaced = {name.lower() for name in auth}
    headers = {name: to_single_line(value) for name, value in given.items() if name.lower() not in replaced}
    return ProviderCall(
        method=request.method,
        url=_url(request),
        headers=headers | {name: to_single_line(value) for name, value in auth.items()},
        content=content,
        secrets=tuple(auth.values()),
        can_start=can_start,
    )


def basic(user: str, password: Secret) -> Headers:
    token = base64.b64encode(f"{user}:{password.reveal()}".encode()).decode()
    return {"Authorization": f"Basic {token}"}


def bearer(token: Secret) -> Headers:
    return {"Authorization": f"Bearer {token.reveal()}"}


def key_header(name: str, key: Secret, *, scheme: str = "") -> Headers:
    """Build a header that holds a key: `key_header("Authorization", key, scheme="App")`."""
    return {name: f"{scheme} {key.reveal()}".lstrip()}


def drop_empty(fields: Fields) -> dict[str, Any]:
    """Return the fields that are not empty: many providers refuse empty texts and lists."""
    return {name: value for name, value in fields.items() if value is not None and value not in ("", [], {}, ())}


def path_part(text: str, *, safe: str = "") -> str:
    """Quote a text as one segment of a URL path."""
    return quote(text, safe=safe)


def check_sizes(provider_name: str, sizes: Iterable[Size]) -> None:
    """Raise SendFailure if one of these is too large."""
    for size in sizes:
        if size.bytes > size.limit:
            message = (
                f"{size.what} has {size.bytes} bytes, and {provider_name} accepts {size.limit} at most; "
                "shorten the text, the data of the step or the payload of the trigger"
            )
            raise SendFailure(FailureKind.PERMANENT, message)


def json_bytes(value: Any) -> int:
    return len(encode_json(value))


def text_bytes(fields: Mapping[str, Any]) -> int:
    """Count the bytes of names and texts alone, for providers that count no punctuation."""
    return sum(len(name.encode()) + len(str(value).encode()) for name, value in fields.items())


def is_single_line(text: str) -> bool:
    return _BREAKS.search(text) is None


def to_single_line(text: str) -> str:
    """Replace every run of control characters and line breaks with one space."""
    return _BREAKS.sub(" ", text).strip()


def _url(request: ProviderRequest) -> str:
    if not request.query:
        return request.url
    # Spaces become %20 instead of +: servers treat both alike, and signatures need %20.
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
        (name, str(member))
        for name, value in fields.items()
        for member in (value if isinstance(value, list | tuple) else (value,))
    ]


def _encode_multipart(request: ProviderRequest) -> tuple[bytes, str]:
    parts = [(f'form-data; name="{_quoted(name)}"', "", value.encode("utf-8")) for name, value in _pairs(request.body)]
    for file in request.files:
        disposition = f'form-data; name="{_quoted(file.part)}"; filename="{_quoted(file.name)}"'
        parts.append((disposition, f"Content-Type: {to_single_line(file.type)}\r\n", file.content))
    # Derived from the content, so that a repeated send has the same bytes. No content contains it by accident.
    boundary = "clarion" + sha256(b"".join(content for _, _, content in parts)).hexdigest()[:32]
    chunks = [
        f"--{boundary}\r\nContent-Disposition: {disposition}\r\n{content_type}\r\n".encode() + content + b"\r\n"
        for disposition, content_type, content in parts
    ]
    return b"".join(chunks) + f"--{boundary}--\r\n".encode(), f"{Encoding.MULTIPART.value}; boundary={boundary}"


def _quoted(text: str) -> str:
    return to_single_line(text).replace("\\", "\\\\").replace('"', "%22")
