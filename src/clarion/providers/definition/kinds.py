"""Kinds of providers: over HTTP by channel, over SMTP, and built in. A provider's file describes one of these."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from clarion.clock import Millis
from clarion.providers.chat import message as chat
from clarion.providers.definition.answer import ProviderAnswer, ReadSent, own_id
from clarion.providers.definition.credentials import Credentials
from clarion.providers.definition.failures import Accepts, AnswerRule, Patience, has_any_body, no_patience
from clarion.providers.definition.outgoing import Outgoing
from clarion.providers.definition.overrides import Casing, extras, recase
from clarion.providers.definition.provider import Provider
from clarion.providers.definition.receipts import Asking, Inquiry, Receipts
from clarion.providers.definition.request import ProviderCall, ProviderRequest
from clarion.providers.definition.result import SendFailure, Sent
from clarion.providers.definition.smtp_account import SmtpAccount
from clarion.providers.definition.token_exchange import TokenExchange
from clarion.providers.email import message as email
from clarion.providers.push import message as push
from clarion.providers.sms import message as sms
from clarion.vocabulary import Channel

A = TypeVar("A", bound=Credentials)
M = TypeVar("M", email.Email, sms.Sms, push.Push, chat.Chat)


def is_success(answer: ProviderAnswer) -> bool:
    return answer.is_success


@dataclass(frozen=True, slots=True, kw_only=True)
class Check(Generic[A]):
    """A call that costs nothing and shows whether the credentials work."""

    request: Callable[[A], ProviderRequest | None]
    """None for an account that has nothing to try out."""
    passes: Accepts = is_success


@dataclass(frozen=True, slots=True, kw_only=True)
class WebProvider(Provider, Generic[A, M]):
    """A provider over HTTP: the request that a message becomes, and what the answer means."""

    credentials: type[A]
    request: Callable[[A, M], ProviderRequest | Asking[ProviderRequest]]
    """May ask for something first: then it yields those requests, and returns the one that sends."""
    sent: ReadSent = own_id
    accepts: Accepts = has_any_body
    """Is an answer of success really one? Some providers refuse with a 200."""
    failures: tuple[AnswerRule, ...] = ()
    """What refusals mean, the first that has something to say; by their status where none has."""
    patience: Patience = no_patience
    """How long a refusal asks to wait, where Retry-After does not say it."""
    sign: Callable[[A, ProviderCall, Millis], Mapping[str, str]] | None = None
    """Headers made from the very bytes that are sent."""
    token: TokenExchange[A] | None = None
    check: Check[A] | None = None
    receipts: Receipts[A] | None = None
    inquiry: Inquiry[A] | None = None
    """How it is asked for receipts that it does not report."""
    casing: Casing | None = None
    """How overrides join the body as fields of the provider's own; None where they do not."""
    within: str = ""
    """The member of the body that they join, where it is not the body itself."""
    known: frozenset[str] = frozenset()
    """Overrides that the message itself understands."""
    over_http2: bool = False
    over_apprise: bool = False
    """Takes `apprise:` for an address."""

    def read_message(self, outgoing: Outgoing, account: A, now: Millis) -> M:
        raise NotImplementedError

    def parts(self, message: M) -> Mapping[str, M]:
        """What is sent by a call of its own, each under a name."""
        return {"": message}

    def join(self, results: Mapping[str, Sent | SendFailure]) -> Sent:
        (result,) = results.values()
        if isinstance(result, SendFailure):
            raise result
        return result

    def body_overrides(self, overrides: Mapping[str, Any]) -> Mapping[str, Any]:
        fields = recase(extras(overrides, self.known), self.casing) if self.casing else {}
        return {self.within: fields} if self.within and fields else fields


@dataclass(frozen=True, slots=True, kw_only=True)
class EmailProvider(WebProvider[A, email.Email]):
    channel: Channel = Channel.EMAIL
    known: frozenset[str] = email.KNOWN

    def read_message(self, outgoing: Outgoing, account: A, now: Millis) -> email.Email:
        return email.read_email(outgoing, account, now)


@dataclass(frozen=True, slots=True, kw_only=True)
class SmsProvider(WebProvider[A, sms.Sms]):
    channel: Channel = Channel.SMS
    known: frozenset[str] = sms.KNOWN

    def read_message(self, outgoing: Outgoing, account: A, now: Millis) -> sms.Sms:
        return sms.read_sms(outgoing, account, now)


@dataclass(frozen=True, slots=True, kw_only=True)
class PushProvider(WebProvider[A, push.Push]):
    channel: Channel = Channel.PUSH
    known: frozenset[str] = push.KNOWN
    one_call_per_token: bool = False

    def read_message(self, outgoing: Outgoing, _: A, now: Millis) -> push.Push:
        return push.read_push(outgoing, now)

    def parts(self, message: push.Push) -> Mapping[str, push.Push]:
        return {one.token: one for one in message.per_token()} if self.one_call_per_token else {"": message}

    def join(self, results: Mapping[str, Sent | SendFailure]) -> Sent:
        if not self.one_call_per_token:
            return WebProvider.join(self, results)
        sent = push.join_results(results)
        return replace(sent, tickets=push.tickets_of(results)) if self.inquiry else sent


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatProvider(WebProvider[A, chat.Chat]):
    channel: Channel = Channel.CHAT
    known: frozenset[str] = chat.KNOWN

    def read_message(self, outgoing: Outgoing, _: A, __: Millis) -> chat.Chat:
        return chat.read_chat(outgoing)


@dataclass(frozen=True, slots=True, kw_only=True)
class SmtpProvider(Provider, Generic[A]):
    """A provider over SMTP: the server and the log-in that its credentials describe."""

    channel: Channel = Channel.EMAIL
    credentials: type[A]
    account: Callable[[A], SmtpAccount]
    attachments: bool = True
    idempotency: str = field(default="the same Message-ID")


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltinProvider(Provider):
    """The message in the store is all that becomes of it: nothing leaves the machine."""

    page: str = "built in"
    attachments: bool = False
    idempotency: str = "the message itself"
