"""What an answer means when it is a refusal: by the provider's codes, by its words, by its status."""

import re
from collections.abc import Callable, Iterable
from typing import Any, Final, Literal

from clarion.providers.definition.answer import ProviderAnswer
from clarion.providers.definition.result import FailureKind

ALREADY_SENT: Final = "already sent"
Ruling = FailureKind | Literal["already sent"]
"""Why a message was not taken, or that an earlier try had been taken."""
AnswerRule = Callable[[ProviderAnswer], Ruling | None]
"""None where this rule has nothing to say about the answer."""
Accepts = Callable[[ProviderAnswer], bool]
Patience = Callable[[ProviderAnswer], int | None]


def codes(path: str, **kinds: Iterable[Any]) -> AnswerRule:
    """By the values at a path of the JSON: `codes("code", recipient_invalid=(21211,), rate_limited=(20429,))`.

    The status does not matter, for some providers refuse with a 200; numbers and texts are the same.
    """
    rulings = _rulings(kinds)
    return lambda answer: _first(rulings, answer.values(path))


def text_codes(pattern: str, **kinds: Iterable[Any]) -> AnswerRule:
    """By the first group of a pattern in the text, such as the code in an answer of XML or of plain text."""
    compiled, rulings = re.compile(pattern), _rulings(kinds)
    return lambda answer: _first(rulings, compiled.findall(answer.text))


def header_codes(name: str, **kinds: Iterable[Any]) -> AnswerRule:
    """By a header's value up to its first colon."""
    rulings = _rulings(kinds)
    return lambda answer: rulings.get(answer.headers.get(name, "").partition(":")[0])


def statuses(**kinds: Iterable[Any]) -> AnswerRule:
    """By the status, where a provider means something else by one than the rest of the world."""
    rulings = _rulings(kinds)
    return lambda answer: rulings.get(str(answer.status))


def words(pattern: str, ruling: Ruling, *, status: int | None = None) -> AnswerRule:
    """By words in a refusal, in any case; of one status only, if given."""
    compiled = re.compile(pattern, re.IGNORECASE)

    def decide(answer: ProviderAnswer) -> Ruling | None:
        is_meant = not answer.is_success if status is None else answer.status == status
        return ruling if is_meant and compiled.search(answer.text) else None

    return decide


def all_equal(path: str, *expected: Any) -> Accepts:
    """Accepts answers whose values at the path are all among the expected ones, and which have at least one."""
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


def no_patience(_: ProviderAnswer) -> int | None:
    return None


def seconds_in_body(path: str) -> Patience:
    """How long to wait, as the JSON says it, rounded up."""

    def read(answer: ProviderAnswer) -> int | None:
        value = answer.value(path)
        return -int(-value // 1) if isinstance(value, int | float) and 0 <= value <= 86_400 else None

    return read


def seconds_header(name: str) -> Patience:
    """How long to wait, as a header of the provider's own says it in seconds."""

    def read(answer: ProviderAnswer) -> int | None:
        text = answer.headers.get(name, "").partition(".")[0]
        return min(int(text[:9]), 86_400) if text.isascii() and text.isdigit() else None

    return read


def reset_header(name: str) -> Patience:
    """How long to wait until the moment that a header gives in seconds since 1970."""

    def read(answer: ProviderAnswer) -> int | None:
        text = answer.headers.get(name, "").partition(".")[0]
        if not text.isdigit():
            return None
        return min(max(int(text) - answer.received_at // 1000, 1), 86_400)

    return read


def kind_of_status(status: int) -> FailureKind:
    """What a refusal means where its provider has no rule of its own."""
    if status == 429:
        return FailureKind.RATE_LIMITED
    return FailureKind.RETRYABLE if status >= 500 or status in (408, 421, 425) else FailureKind.PERMANENT


# Where providers put the sentence that explains a refusal, the most telling first.
_SENTENCES = (
    *("error.message", "errors.0.message", "errors.0.detail", "errors.0.description", "error.description"),
    *("error_description", "message", "Message", "error-text", "messages.0.error-text", "ErrorMessage", "detail"),
    *("description", "error", "errors.0", "reason", "title"),
)


def sentence_of(answer: ProviderAnswer) -> str:
    """The provider's own words, as far as it has any."""
    for path in _SENTENCES:
        value = answer.value(path)
        if isinstance(value, str) and value.strip():
            return value.strip()
    return answer.text.strip() or "no text"


def _rulings(kinds: dict[str, Iterable[Any]]) -> dict[str, Ruling]:
    return {
        str(code): ALREADY_SENT if name == "already_sent" else FailureKind(name)
        for name, given in kinds.items()
        for code in given
    }


def _first(rulings: dict[str, Ruling], found: Iterable[Any]) -> Ruling | None:
    return next((rulings[str(value)] for value in found if str(value) in rulings), None)
