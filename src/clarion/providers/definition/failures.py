"""Classifying error answers by the provider's codes, by its error texts and by the status."""

import re
from collections.abc import Callable, Iterable
from typing import Any, Final, Literal

from clarion.providers.definition.answer import ProviderAnswer
from clarion.providers.definition.result import FailureKind

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


_OTHERS: dict[str, Classification] = {"already_sent": ALREADY_SENT, "account_refused": ACCOUNT_REFUSED}


def _by_code(kinds: dict[str, Iterable[Any]]) -> dict[str, Classification]:
    return {
        str(code): _OTHERS[name] if name in _OTHERS else FailureKind(name)
        for name, given in kinds.items()
        for code in given
    }


def _find_first(by_code: dict[str, Classification], found: Iterable[Any]) -> Classification | None:
    return next((by_code[str(value)] for value in found if str(value) in by_code), None)
