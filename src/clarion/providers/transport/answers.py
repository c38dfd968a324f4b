"""Answers of providers, whichever version of HTTP they came over."""

from collections.abc import Mapping

from clarion.clock import Clock
from clarion.providers.definition.answer import ProviderAnswer
from clarion.providers.definition.request import ProviderCall
from clarion.providers.transport.urls import parse_retry_after


def make_answer(
    call: ProviderCall, status: int, headers: Mapping[str, str], content: bytes, clock: Clock
) -> ProviderAnswer:
    """The answer to a call, without the secrets of the call; `headers` are by lower-case names."""
    return ProviderAnswer(
        status=status,
        text=call.without_secrets(content),
        headers=headers,
        retry_after=parse_retry_after(headers.get("retry-after", ""), clock),
        received_at=clock.now(),
    )
