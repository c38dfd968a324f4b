"""The result of a send: its id read from the provider's answer, or why there is none, by codes, texts and statuses."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from functools import cached_property
from typing import Any, ClassVar, Final, Literal, NamedTuple

import msgspec
from msgspec import Struct

from clarion.clock import Millis
from clarion.errors import ClarionError
from clarion.secret import PartlyPrinted


class Sent(PartlyPrinted, frozen=True, kw_only=True):
    """The provider accepted the message; `raw` is its answer as JSON."""

    PRINTED: ClassVar = ("provider_message_id", "raw")
    provider_message_id: str | None
    raw: Any = None
    dead_tokens: tuple[str, ...] = ()
    """Device tokens that are no longer valid, although the message was sent to others."""
    tickets: Mapping[str, str] = {}
    """Tickets by recipient, with which receipts are fetched later; empty if the provider pushes receipts."""
    refused: Mapping[str, str] = {}
    """The reasons by recipient, if the provider accepted the message for some recipients and not for these."""
    place: Mapping[str, str] | None = None
    """Where the provider put it, beside its id; None if it cannot be changed there."""


class FailureKind(StrEnum):
    RETRYABLE = "retryable"
    PERMANENT = "permanent"
    RECIPIENT_INVALID = "recipient_invalid"
    RATE_LIMITED = "rate_limited"
    NO_CONNECTION = "no_connection"
    """All connections that this process may have were in use. The provider was not called."""


class SendFailure(ClarionError):
    """The message was not sent; `message` is the provider's own error text if it gave one."""

    def __init__(self, kind: FailureKind, message: str, *, retry_after: int | None = None, raw: Any = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.retry_after = retry_after
        """Seconds to wait, if the provider asks for a delay."""
        self.raw = raw
        self.is_ambiguous = False
        """Whether the provider may have accepted the message: its answer was lost or could not be understood."""
        self.is_account_refused = False
        """Whether the provider refuses the account, and would refuse every other message too."""
        self.dead_tokens: tuple[str, ...] = ()
        """Device tokens that are no longer valid."""


def refuse_account(message: str, *, raw: Any = None) -> SendFailure:
    """Return the permanent failure of an account that nothing can be sent with."""
    failure = SendFailure(FailureKind.PERMANENT, message, raw=raw)
    failure.is_account_refused = True
    return failure


def mark_ambiguous(failure: SendFailure) -> SendFailure:
    """Mark the failure as one of a message that the provider may have accepted, and return it."""
    failure.is_ambiguous = True
    return failure


class ProviderAnswer(Struct, frozen=True, kw_only=True, dict=True):
    """The answer to a call; `text` is truncated at MAX_ANSWER bytes."""

    status: int
    text: str
    headers: Mapping[str, str]
    """By lower-case names."""
    retry_after: int | None
    """Seconds from the Retry-After header."""
    received_at: Millis
    is_cut: bool = False
    """Whether the body goes on behind `text`."""

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300

    def header(self, name: str) -> str:
        """The value of a header, empty if it is absent; the case of its name does not matter."""
        return self.headers.get(name.lower(), "")

    @cached_property
    def json(self) -> Any:
        """The decoded body; None if it is not JSON."""
        try:
            return msgspec.json.decode(self.text)
        except (msgspec.DecodeError, RecursionError):
            return None

    def values(self, path: str) -> list[Any]:
        """All values at a dotted path into the JSON; a number is an index of a list, `*` is every element."""
        return list(values_at(self.json, path))

    def value(self, path: str) -> Any:
        """The first value at the path, or None."""
        return next(values_at(self.json, path), None)


class SendContext(NamedTuple):
    """The account and the message that an answer belongs to."""

    account: Any
    message: Any


ReadSent = Callable[[ProviderAnswer, SendContext], str | Sent | None]
"""Reads the provider's message id, or a whole result, from its answer; None if the id is missing."""


def values_at(document: Any, path: str) -> Iterator[Any]:
    name, _, rest = path.partition(".")
    for value in _members(document, name):
        if rest:
            yield from values_at(value, rest)
        elif value is not None:
            yield value


def json_id(*paths: str) -> ReadSent:
    """Read the id at the first of these paths that has a value; a number becomes a text."""

    def read(answer: ProviderAnswer, _: SendContext) -> str | None:
        for path in paths:
            value = answer.value(path)
            if isinstance(value, str | int) and not isinstance(value, bool) and str(value).strip():
                return str(value).strip()
        return None

    return read


def header_id(name: str) -> ReadSent:
    return lambda answer, _: answer.header(name) or None


def text_id(pattern: str) -> ReadSent:
    """Read the id from the first group of the pattern, anywhere in the text."""
    compiled = re.compile(pattern)

    def read(answer: ProviderAnswer, _: SendContext) -> str | None:
        found = compiled.search(answer.text)
        return found.group(1).strip() if found else None

    return read


def own_id(_: ProviderAnswer, context: SendContext) -> str:
    """Return our own message id, for providers that return none."""
    message_id: str = context.message.message_id
    return message_id


def either(*readers: ReadSent) -> ReadSent:
    """Try these readers in order and return the first id found."""

    def read(answer: ProviderAnswer, context: SendContext) -> str | Sent | None:
        for reader in readers:
            message_id = reader(answer, context)
            if message_id is not None:
                return message_id
        return None

    return read


ALREADY_SENT: Final = "already sent"
ACCOUNT_REFUSED: Final = "account refused"
"""The provider refuses the account of the integration, and so everything that is sent through it."""
Classification = FailureKind | Literal["already sent", "account refused"]
"""Why a message was not accepted, or that an earlier attempt was."""
Classifier = Callable[[ProviderAnswer], Classification | None]
"""Returns None if it does not apply to the answer."""
REFUSED_ACCOUNT_STATUSES = frozenset({401, 402})
"""Wrong credentials, and no credit."""
Accepts = Callable[[ProviderAnswer], bool]
ReadRetryAfter = Callable[[ProviderAnswer], int | None]


def codes(path: str, **kinds: Iterable[Any]) -> Classifier:
    """Classify by the values at a JSON path: `codes("code", recipient_invalid=(21211,), rate_limited=(20429,))`.

    The status is ignored, because some providers return errors with a 200. The number 1 equals the text "1".
    """
    by_code = _by_code(kinds)
    return lambda answer: _find_first(by_code, answer.values(path))


def text_codes(pattern: str, **kinds: Iterable[Any]) -> Classifier:
    """Classify by the first group of a pattern, such as an error code in XML or plain text."""
    compiled, by_code = re.compile(pattern), _by_code(kinds)
    return lambda answer: _find_first(by_code, compiled.findall(answer.text))


def header_codes(name: str, **kinds: Iterable[Any]) -> Classifier:
    """Classify by the value of a header, up to its first colon."""
    by_code = _by_code(kinds)
    return lambda answer: by_code.get(answer.header(name).partition(":")[0])


def statuses(**kinds: Iterable[Any]) -> Classifier:
    """Classify by the status, for providers that use one in an unusual sense."""
    by_code = _by_code(kinds)
    return lambda answer: by_code.get(str(answer.status))


def error_text(pattern: str, classification: Classification, *, status: int | None = None) -> Classifier:
    """Classify error answers whose text matches the pattern, ignoring case; only those with `status`, if given."""
    compiled = re.compile(pattern, re.IGNORECASE)

    def classify(answer: ProviderAnswer) -> Classification | None:
        is_candidate = not answer.is_success if status is None else answer.status == status
        return classification if is_candidate and compiled.search(answer.text) else None

    return classify


def all_equal(path: str, *expected: Any) -> Accepts:
    """Accept answers that have values at the path, all of them among the expected ones."""
    wanted = {str(one) for one in expected}

    def accepts(answer: ProviderAnswer) -> bool:
        found = answer.values(path)
        return bool(found) and all(str(value) in wanted for value in found)

    return accepts


def text_matches(pattern: str) -> Accepts:
    compiled = re.compile(pattern)
    return lambda answer: compiled.search(answer.text) is not None


def has_any_body(_: ProviderAnswer) -> bool:
    return True


def no_retry_after(_: ProviderAnswer) -> int | None:
    return None


def seconds_in_body(path: str) -> ReadRetryAfter:
    """Read the seconds to wait from a JSON path, rounded up."""

    def read(answer: ProviderAnswer) -> int | None:
        value = answer.value(path)
        return -int(-value // 1) if isinstance(value, int | float) and 0 <= value <= 86_400 else None

    return read


def seconds_header(name: str) -> ReadRetryAfter:
    """Read the seconds to wait from a header of the provider."""

    def read(answer: ProviderAnswer) -> int | None:
        text = answer.header(name).partition(".")[0]
        return min(int(text[:9]), 86_400) if text.isascii() and text.isdigit() else None

    return read


def reset_header(name: str) -> ReadRetryAfter:
    """Read the seconds to wait from a header that has the reset time in seconds since 1970."""

    def read(answer: ProviderAnswer) -> int | None:
        text = answer.header(name).partition(".")[0]
        if not text.isdigit():
            return None
        return min(max(int(text) - answer.received_at // 1000, 1), 86_400)

    return read


def classify_status(status: int) -> FailureKind:
    """Classify an error status if no classifier of the provider applies."""
    if status == 429:
        return FailureKind.RATE_LIMITED
    return FailureKind.RETRYABLE if status >= 500 or status in (408, 421, 425) else FailureKind.PERMANENT


# JSON paths of the error text, the most specific first.
_ERROR_TEXT_PATHS = (
    *("error.message", "errors.0.message", "errors.0.detail", "errors.0.description", "error.description"),
    *("error_description", "message", "Message", "error-text", "messages.0.error-text", "ErrorMessage", "detail"),
    *("description", "error", "errors.0", "reason", "title"),
)


def read_error_text(answer: ProviderAnswer) -> str:
    """Return the provider's error text, or the whole body if there is none."""
    for path in _ERROR_TEXT_PATHS:
        value = answer.value(path)
        if isinstance(value, str) and value.strip():
            return value.strip()
    return answer.text.strip() or "no text"


def checked(answer: ProviderAnswer) -> ProviderAnswer:
    """The answer to a call that is part of several; raises SendFailure with the provider's words if it is an error."""
    if not answer.is_success:
        message = f"status {answer.status}: {read_error_text(answer)}"
        raise SendFailure(classify_status(answer.status), message)
    return answer


def text_at(answer: ProviderAnswer, path: str) -> str:
    """The text at a path of a successful answer; raises SendFailure if there is none."""
    value = checked(answer).value(path)
    if not isinstance(value, str) or not value:
        raise SendFailure(FailureKind.PERMANENT, f"the answer lacks {path}")
    return value


_OTHERS: dict[str, Classification] = {"already_sent": ALREADY_SENT, "account_refused": ACCOUNT_REFUSED}


def _by_code(kinds: dict[str, Iterable[Any]]) -> dict[str, Classification]:
    return {
        str(code): _OTHERS[name] if name in _OTHERS else FailureKind(name)
        for name, given in kinds.items()
        for code in given
    }


def _find_first(by_code: dict[str, Classification], found: Iterable[Any]) -> Classification | None:
    return next((by_code[str(value)] for value in found if str(value) in by_code), None)


def _members(document: Any, name: str) -> Iterator[Any]:
    if name == "*":
        if isinstance(document, list):
            yield from document
    elif isinstance(document, Mapping):
        if name in document:
            yield document[name]
    elif isinstance(document, list) and name.isdigit() and int(name) < len(document):
        yield document[int(name)]
