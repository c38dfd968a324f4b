"""Providers: HTTP by channel, SMTP and built-in. Each provider module declares one of these."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Generic, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from clarion.clock import Millis
from clarion.providers.chat import message as chat
from clarion.providers.definition.changes import ChangeKind, MessageChange, Place
from clarion.providers.definition.credentials import (
    Credentials,
    get_format_rules,
    is_blank,
    list_required,
    respell,
)
from clarion.providers.definition.edits import Edits
from clarion.providers.definition.outgoing import Outgoing
from clarion.providers.definition.overrides import (
    CUSTOM_DATA,
    PASSTHROUGH,
    Casing,
    as_given,
    deep_merge,
    extras,
    list_not_passed,
    read_passthrough,
    recase,
)
from clarion.providers.definition.receipts import ReceiptQuery, Receipts, RequestFlow
from clarion.providers.definition.request import Headers, ProviderCall, ProviderRequest, Size, bearer
from clarion.providers.definition.result import (
    Accepts,
    Classifier,
    ProviderAnswer,
    ReadRetryAfter,
    ReadSent,
    SendFailure,
    Sent,
    has_any_body,
    no_retry_after,
    own_id,
)
from clarion.providers.email import message as email
from clarion.providers.email.smtp_account import SmtpAccount
from clarion.providers.push import message as push
from clarion.providers.sms import message as sms
from clarion.providers.tool import message as tool
from clarion.secret import Secret
from clarion.vocabulary import Channel

A = TypeVar("A", bound=Credentials)
M = TypeVar("M", email.Email, sms.Sms, push.Push, chat.Chat, tool.Alert)


class Provider(Struct, frozen=True, kw_only=True):
    """The static description of one provider."""

    id: str
    name: str
    channel: Channel
    credentials: type[Credentials] = Credentials
    documentation: str = ""
    """The URL of the API documentation that the implementation follows, or where its format is described."""
    can_attach_files: bool = False
    idempotency: str = ""
    """Where our message id is sent as an idempotency key; empty if the provider supports none."""
    find_problems: Callable[[Mapping[str, Any]], dict[str, str]] | None = None
    """Finds problems of credentials that depend on each other."""
    note: str = ""
    """What a person who sets up an integration should know."""

    known: frozenset[str] = frozenset()
    """Overrides that our message reads itself."""
    without: frozenset[str] = frozenset()
    """Those of `known` that the provider has no place for."""

    def takes(self, _: str, /) -> bool:
        """Return whether an override that is not `known` is part of the request."""
        return False

    def list_ignored(self, overrides: Mapping[str, Any], /) -> dict[str, str]:
        """Return the overrides that have no effect with this provider, and why, by name."""
        unread = [name for name in extras(overrides, self.known - self.without) if not self.takes(name)]
        return list_not_passed(overrides, self.channel) | dict.fromkeys(unread, f"{self.name} has no such field")

    def find_change_obstacle(self, kind: ChangeKind, _: Place | None, /) -> str | None:
        """Return why a message that the provider has cannot be changed; None if it can."""
        return f"{self.name} cannot {kind.verb} a message that it has"

    @property
    def required(self) -> tuple[str, ...]:
        return list_required(self.credentials)


def find_credential_problems(provider: Provider, credentials: Mapping[str, Any]) -> dict[str, str]:
    """Return an error text for each credential that is missing or malformed, by name."""
    given = respell(provider.credentials, credentials)
    problems = {name: f"is required to activate {provider.name}" for name in provider.required if is_blank(given, name)}
    for name, rule in get_format_rules(provider.credentials).items():
        if not is_blank(given, name) and not rule.accepts(given[name]):
            problems[name] = rule.sentence
    if provider.find_problems is not None:
        problems = provider.find_problems(given) | problems
    other = {new: old for old, new in provider.credentials.SPELLINGS.items() if is_blank(credentials, new)}
    return {other.get(name, name) if name in given else name: sentence for name, sentence in problems.items()}


def _is_always_needed(_: Any) -> bool:
    return True


class TokenExchange(Struct, Generic[A], frozen=True, kw_only=True):
    """How an account obtains an access token, and which headers send it."""

    request: Callable[[A, Millis], ProviderRequest]
    path: Callable[[A], str] = lambda _: "access_token"
    lifetime: str = "expires_in"
    """The JSON path of the lifetime in seconds."""
    default_lifetime: int = 3_600
    margin_seconds: int = 60
    """How long before its end a token is not used any more."""
    auth: Callable[[A, Secret], Mapping[str, str]] = lambda _, token: bearer(token)
    is_needed: Callable[[A], bool] = _is_always_needed


def no_auth(_: Any) -> Headers:
    return {}


def is_success(answer: ProviderAnswer) -> bool:
    return answer.is_success


class HttpProvider(Provider, Generic[A, M], frozen=True, kw_only=True):
    """A provider with an HTTP API: how to build requests and interpret answers."""

    credentials: type[A]
    request: Callable[[A, M], ProviderRequest | RequestFlow[ProviderRequest]]
    """Builds the request of a message. If it needs other calls first, it yields these requests."""
    auth: Callable[[A], Headers] = no_auth
    """Returns the headers that authenticate every call of the account."""
    sent: ReadSent = own_id
    accepts: Accepts = has_any_body
    """Returns whether a 2xx answer is a success: some providers return errors with a 200."""
    failures: tuple[Classifier, ...] = ()
    """Classifiers of error answers; the first that applies decides, else the status."""
    read_retry_after: ReadRetryAfter = no_retry_after
    """Reads the seconds to wait from an error answer without a Retry-After header."""
    sign: Callable[[A, ProviderCall, Millis], Mapping[str, str]] | None = None
    """Returns signature headers for the encoded request."""
    token: TokenExchange[A] | None = None
    check: Callable[[A], ProviderRequest | None] | None = None
    """Builds a free call that tests whether the credentials work; None if there is nothing to test for the account."""
    check_passes: Accepts = is_success
    receipts: Receipts[A] | None = None
    receipt_query: ReceiptQuery[A] | None = None
    """How to fetch receipts, if the provider does not push them."""
    casing: Casing | None = as_given
    """The casing in which other overrides are merged into the body; None if they are not merged."""
    within: str = ""
    """The member of the body that overrides are merged into, if not the body itself."""
    custom_data: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None
    """Returns the overrides that the override `customData` means; None if the provider has no use for it."""
    merge: Callable[[Any, Any], Any] = deep_merge
    """Merges what a trigger adds into the body."""
    sizes: Callable[[ProviderRequest], Iterable[Size]] | None = None
    """Returns the parts of a complete request whose size the provider limits."""
    reads: Callable[[str], bool] | None = None
    """Returns whether `request` itself reads an override that is not `known`; such overrides are not merged."""
    takes_body: bool = True
    """Whether a trigger can add to the body of the request; not if it has none, or a list."""
    is_http2: bool = False
    can_use_apprise: bool = False
    """Whether `apprise:` is accepted as URL."""
    edits: Edits[A, M] | None = None
    """How the provider changes messages that it has; None if it cannot."""
    takes_trace: bool = False
    """Whether the receiver is the user's own service, which gets the trace context of the message."""

    def read_message(self, outgoing: Outgoing, account: A, now: Millis) -> M:
        raise NotImplementedError

    def make_request(self, account: A, message: M, change: MessageChange | None) -> Any:
        """Build the request of a message, or of a change of one; requests that it needs before are yielded."""
        if change is None or self.edits is None:
            return self.request(account, message)
        return self.edits.make_request(account, message, change)

    def find_change_obstacle(self, kind: ChangeKind, place: Place | None, /) -> str | None:
        if self.edits is None:
            return Provider.find_change_obstacle(self, kind, place)
        if place is None:
            return f"{self.name} gave no address of the message: it went to a webhook that gives none"
        return None

    def parts(self, message: M) -> Mapping[str, M]:
        """Split the message into parts that each need a call, by name."""
        return {"": message}

    def join(self, results: Mapping[str, Sent | SendFailure]) -> Sent:
        (result,) = results.values()
        if isinstance(result, SendFailure):
            raise result
        return result

    def takes(self, name: str, /) -> bool:
        if name in self.known:
            return False
        return self.casing is not None or (self.reads is not None and self.reads(name))

    def list_ignored(self, overrides: Mapping[str, Any], /) -> dict[str, str]:
        ignored = Provider.list_ignored(self, overrides)
        if not self.takes_body and read_passthrough(overrides).body:
            ignored[f"{PASSTHROUGH}.body"] = f"a request to {self.name} has no body that it could be added to"
        given = overrides.get(CUSTOM_DATA)
        if self.custom_data is None or not isinstance(given, Mapping):
            return ignored
        del ignored[CUSTOM_DATA]
        unread = [name for name, value in given.items() if not self.custom_data({name: value})]
        return ignored | {f"{CUSTOM_DATA}.{name}": f"{self.name} has no such field" for name in unread}

    def body_overrides(self, overrides: Mapping[str, Any]) -> Mapping[str, Any]:
        if self.casing is None:
            return {}
        given = extras(overrides, self.known)
        if self.reads is not None:
            given = {name: value for name, value in given.items() if not self.reads(name)}
        custom_data = overrides.get(CUSTOM_DATA)
        if self.custom_data is not None and isinstance(custom_data, Mapping):
            given = {**self.custom_data(custom_data), **given}
        fields = recase(given, self.casing)
        return {self.within: fields} if self.within and fields else fields


class EmailProvider(HttpProvider[A, email.Email], frozen=True, kw_only=True):
    channel: Channel = Channel.EMAIL
    known: frozenset[str] = email.KNOWN
    can_attach_files: bool = True

    def read_message(self, outgoing: Outgoing, account: A, now: Millis) -> email.Email:
        return email.read_email(outgoing, account, now)


class SmsProvider(HttpProvider[A, sms.Sms], frozen=True, kw_only=True):
    channel: Channel = Channel.SMS
    known: frozenset[str] = sms.KNOWN

    def read_message(self, outgoing: Outgoing, account: A, now: Millis) -> sms.Sms:
        return sms.read_sms(outgoing, account, now)


class PushProvider(HttpProvider[A, push.Push], frozen=True, kw_only=True):
    channel: Channel = Channel.PUSH
    known: frozenset[str] = push.KNOWN
    is_called_per_token: bool = False
    replaces: bool = False
    """Whether a second notification with the id of the first one takes its place on the device."""
    targets: frozenset[str] = frozenset()
    """Overrides that say who gets the notification instead of the device tokens."""

    def read_message(self, outgoing: Outgoing, _: A, now: Millis) -> push.Push:
        return push.read_push(outgoing, now, is_addressed=self.has_target(outgoing.overrides))

    def find_change_obstacle(self, kind: ChangeKind, place: Place | None, /) -> str | None:
        if not self.replaces:
            return Provider.find_change_obstacle(self, kind, place)
        if kind is ChangeKind.WITHDRAW:
            return f"{self.name} cannot take notifications off a device; an update replaces them"
        return None

    def has_target(self, overrides: Mapping[str, Any]) -> bool:
        return bool(self.targets) and any(overrides.get(name) for name in self.targets)

    def list_ignored(self, overrides: Mapping[str, Any], /) -> dict[str, str]:
        return HttpProvider.list_ignored(self, overrides) | push.list_malformed(overrides)

    def parts(self, message: push.Push) -> Mapping[str, push.Push]:
        if not self.is_called_per_token or self.has_target(message.options):
            return {"": message}
        return {one.token: one for one in message.per_token()}

    def join(self, results: Mapping[str, Sent | SendFailure]) -> Sent:
        if not self.is_called_per_token:
            return HttpProvider.join(self, results)
        sent = push.join_results(results)
        return replace(sent, tickets=push.tickets_of(results)) if self.receipt_query else sent


class ChatProvider(HttpProvider[A, chat.Chat], frozen=True, kw_only=True):
    channel: Channel = Channel.CHAT
    known: frozenset[str] = chat.KNOWN

    def read_message(self, outgoing: Outgoing, _: A, __: Millis) -> chat.Chat:
        return chat.read_chat(outgoing)


class ToolProvider(HttpProvider[A, tool.Alert], frozen=True, kw_only=True):
    channel: Channel = Channel.TOOL
    known: frozenset[str] = tool.KNOWN

    def read_message(self, outgoing: Outgoing, _: A, __: Millis) -> tool.Alert:
        return tool.read_alert(outgoing)


class SmtpProvider(Provider, Generic[A], frozen=True, kw_only=True):
    """A provider with an SMTP server, which its credentials describe."""

    channel: Channel = Channel.EMAIL
    known: frozenset[str] = email.KNOWN
    credentials: type[A]
    account: Callable[[A], SmtpAccount]
    can_attach_files: bool = True
    idempotency: str = "the same Message-ID"

    def list_ignored(self, overrides: Mapping[str, Any], /) -> dict[str, str]:
        passed = {PASSTHROUGH: "an e-mail over SMTP has no such request"} if PASSTHROUGH in overrides else {}
        return Provider.list_ignored(self, overrides) | passed


class BuiltinProvider(Provider, frozen=True, kw_only=True):
    """A provider that keeps messages in the database and sends nothing."""

    documentation: str = "built in"
    idempotency: str = "the message itself"

    def list_ignored(self, _: Mapping[str, Any], /) -> dict[str, str]:
        """Return nothing: there is no request that they could be part of."""
        return {}
