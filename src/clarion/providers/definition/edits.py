"""How providers change messages that they have, and take them back."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from msgspec import Struct

from clarion.providers.definition.changes import ChangeKind, MessageChange, Place, SentMessage
from clarion.providers.definition.receipts import RequestFlow
from clarion.providers.definition.request import ProviderRequest
from clarion.providers.definition.result import ProviderAnswer, SendContext

A = TypeVar("A")
M = TypeVar("M")


def _is_never_done(_: ProviderAnswer, __: ChangeKind) -> bool:
    return False


class Edits(Struct, Generic[A, M], frozen=True, kw_only=True):
    """How a provider changes a message that it has, and takes it back."""

    read_place: Callable[[ProviderAnswer, SendContext], Place | None]
    """Reads from the answer to a send where the message is; None if it cannot be changed there."""
    update: Callable[[A, M, SentMessage], ProviderRequest | RequestFlow[ProviderRequest]]
    withdraw: Callable[[A, M, SentMessage], ProviderRequest | RequestFlow[ProviderRequest]]
    is_done: Callable[[ProviderAnswer, ChangeKind], bool] = _is_never_done
    """Whether an error says that the message is as it should be, because an earlier attempt has changed it."""

    def make_request(self, account: A, message: M, change: MessageChange) -> Any:
        make = self.update if change.kind is ChangeKind.UPDATE else self.withdraw
        return make(account, message, change.sent)
