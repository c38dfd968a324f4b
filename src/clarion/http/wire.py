"""The base class of request and response shapes, and types of validated texts."""

import functools
import re
import zoneinfo
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Self, dataclass_transform

from email_validator import EmailNotValidError, validate_email
from msgspec import UNSET, Meta, Struct, StructMeta, UnsetType, field

from clarion.clock import Millis, find_moment
from clarion.ids import find_id


class _WireMeta(StructMeta):
    """Makes all shapes frozen, with camelCase names in JSON, and keyword-only unless they say otherwise."""

    def __new__(
        mcls,
        name: str,
        bases: tuple[type, ...],
        namespace: dict[str, Any],
        *,
        frozen: bool = True,
        kw_only: bool = True,
        **options: Any,
    ) -> Any:
        return super().__new__(mcls, name, bases, namespace, frozen=frozen, kw_only=kw_only, rename="camel", **options)


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(field,))
class Wire(Struct, metaclass=_WireMeta, frozen=True):
    """One JSON object. Fields with the value UNSET are absent.

    What becomes of unknown members of input follows from the operation (`http/input/unknown.py`); a shape with
    `forbid_unknown_fields` refuses them in any case.
    """


class CheckedText(str):
    """A text that is validated when it is decoded; subclasses define the rule."""

    __slots__ = ()
    RULE: ClassVar[str]
    FORMAT: ClassVar[str | None] = None
    EXAMPLE: ClassVar[str]

    @classmethod
    def accepts(cls, text: str) -> bool:
        raise NotImplementedError

    @classmethod
    def parse(cls, value: Any) -> Self:
        if not isinstance(value, str) or not cls.accepts(value):
            raise ValueError(cls.RULE)
        return cls(value)


class UploadedFile:
    """A file of a form; no struct, because its bytes are no JSON."""

    __slots__ = ("content", "name")

    def __init__(self, name: str, content: bytes) -> None:
        self.name = name
        self.content = content


class EmailText(CheckedText):
    __slots__ = ()
    RULE = "must be an e-mail address such as ada@example.com"
    FORMAT = "email"
    EXAMPLE = "ada@example.com"

    @classmethod
    def accepts(cls, text: str) -> bool:
        return _is_email(text)


class Timezone(CheckedText):
    __slots__ = ()
    RULE = "must be an IANA time zone such as Europe/Athens"
    EXAMPLE = "Europe/London"

    @classmethod
    def accepts(cls, text: str) -> bool:
        return text in _zones()


class Locale(CheckedText):
    __slots__ = ()
    RULE = "must be a BCP 47 locale such as en-US"
    EXAMPLE = "en-GB"

    # language, script, region, variants, extensions; underscores are common too, as in en_US
    _PATTERN: ClassVar[re.Pattern[str]] = re.compile(
        r"[A-Za-z]{2,3}([-_][A-Za-z]{3}){0,3}([-_][A-Za-z]{4})?([-_]([A-Za-z]{2}|[0-9]{3}))?"
        r"([-_]([A-Za-z0-9]{5,8}|[0-9][A-Za-z0-9]{3}))*([-_][0-9A-WY-Za-wy-z]([-_][A-Za-z0-9]{2,8})+)*"
    )

    @classmethod
    def accepts(cls, text: str) -> bool:
        return len(text) <= 64 and cls._PATTERN.fullmatch(text) is not None


class NameText(CheckedText):
    __slots__ = ()
    RULE = "must have 1 to 100 characters, no control characters and no white space at its ends"

    @classmethod
    def accepts(cls, text: str) -> bool:
        return 1 <= len(text) <= 100 and text.isprintable() and text.strip() == text


class SubscriberKeyText(CheckedText):
    __slots__ = ()
    RULE = "must have 1 to 255 characters, no control characters and no white space at its ends"
    EXAMPLE = "ada"

    @classmethod
    def accepts(cls, text: str) -> bool:
        return 1 <= len(text) <= 255 and text.isprintable() and text.strip() == text


class TopicKeyText(SubscriberKeyText):
    __slots__ = ()
    EXAMPLE = "release-news"


class IdText(CheckedText):
    __slots__ = ()
    RULE = "must be a UUID"
    FORMAT = "uuid"
    EXAMPLE = "019a8a5e-7c00-7000-8000-000000000001"

    @classmethod
    def accepts(cls, text: str) -> bool:
        return find_id(text) is not None

    @property
    def id(self) -> bytes:
        value = find_id(self)
        if value is None:
            raise ValueError(self.RULE)
        return value


class MomentText(CheckedText):
    __slots__ = ()
    RULE = "must be a date and time in ISO 8601 such as 2026-01-31T09:30:00.000Z"
    FORMAT = "date-time"
    EXAMPLE = "2026-01-31T09:30:00.000Z"

    @classmethod
    def accepts(cls, text: str) -> bool:
        return find_moment(text) is not None

    @property
    def moment(self) -> Millis:
        value = find_moment(self)
        if value is None:
            raise ValueError(self.RULE)
        return value


DateTimeText = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]
"""A moment in a response, as `iso_text` writes it."""

JsonText = Annotated[str, Meta(extra_json_schema={"contentMediaType": "application/json"})]
"""JSON in a string."""

OriginText = Annotated[str, Meta(pattern="^[a-z][a-z0-9]{0,31}-cloud$")]

SECRET = "x-secret"  # noqa: S105 - a name
"""Of `Meta.extra`: how a secret field is masked."""


class SecretForm(StrEnum):
    """How a secret is masked for those who may not see it."""

    TOKEN = "token"  # noqa: S105 - a form
    URL = "url"


DeviceToken = Annotated[str, Meta(extra={SECRET: SecretForm.TOKEN})]
"""With it anybody can push to the device of a person."""
SecretUrl = Annotated[str, Meta(extra={SECRET: SecretForm.URL})]
"""A URL with a secret in it, such as the incoming webhook of a chat: with it anybody can post there."""

ALTERNATIVES = "x-alternatives"


def one_of(*kinds: Any) -> Meta:
    """Says in the API description what a value may be, where the type does not; nothing is checked by it."""
    return Meta(extra={ALTERNATIVES: kinds}, extra_json_schema={ALTERNATIVES: [repr(kind) for kind in kinds]})


def parse_checked(kind: type, value: Any) -> Any:
    """Decode a CheckedText, as a hook for msgspec."""
    if issubclass(kind, CheckedText):
        return kind.parse(value)
    raise NotImplementedError(kind)


def given(value: Any) -> Any:
    """The value, or UNSET for None, so that the field is absent."""
    return UNSET if value is None else value


def changes_of(body: Wire, *names: str) -> dict[str, Any]:
    """Those of the named fields that the caller sent, including null."""
    found = ((name, getattr(body, name)) for name in names)
    return {name: value for name, value in found if not isinstance(value, UnsetType)}


@functools.cache
def _zones() -> frozenset[str]:
    return frozenset(zoneinfo.available_timezones())


def _is_email(text: str) -> bool:
    try:
        validate_email(text, check_deliverability=False, test_environment=True)
    except EmailNotValidError:
        return False
    return True
