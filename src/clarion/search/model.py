"""What a search finds, and how well a text matches."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from enum import StrEnum

from msgspec import Struct

from clarion.vocabulary import Scope


class SearchType(StrEnum):
    """What a result is. Those after `transaction` are found by their id alone, messages also by their provider's."""

    SUBSCRIBER = "subscriber"
    WORKFLOW = "workflow"
    TOPIC = "topic"
    INTEGRATION = "integration"
    WEBHOOK_ENDPOINT = "webhookEndpoint"
    TRANSACTION = "transaction"
    """A trigger, by its id or its transactionId."""
    NOTIFICATION = "notification"
    JOB = "job"
    MESSAGE = "message"
    WORKFLOW_VERSION = "workflowVersion"
    SUBSCRIPTION = "subscription"
    """Of a person to a topic."""
    WEBHOOK_EVENT = "webhookEvent"
    WEBHOOK_DELIVERY = "webhookDelivery"
    API_KEY = "apiKey"
    AUDIT_ENTRY = "auditEntry"


SCOPES: Mapping[SearchType, Scope] = {
    SearchType.SUBSCRIBER: Scope.SUBSCRIBERS_READ,
    SearchType.WORKFLOW: Scope.WORKFLOWS_READ,
    SearchType.TOPIC: Scope.TOPICS_READ,
    SearchType.INTEGRATION: Scope.INTEGRATIONS_READ,
    # They are found by their URLs, which may have tokens in them.
    SearchType.WEBHOOK_ENDPOINT: Scope.WEBHOOKS_WRITE,
    SearchType.TRANSACTION: Scope.EVENTS_READ,
    SearchType.NOTIFICATION: Scope.EVENTS_READ,
    SearchType.JOB: Scope.EVENTS_READ,
    SearchType.MESSAGE: Scope.MESSAGES_READ,
    SearchType.WORKFLOW_VERSION: Scope.WORKFLOWS_READ,
    SearchType.SUBSCRIPTION: Scope.TOPICS_READ,
    SearchType.WEBHOOK_EVENT: Scope.WEBHOOKS_READ,
    SearchType.WEBHOOK_DELIVERY: Scope.WEBHOOKS_READ,
    SearchType.API_KEY: Scope.ENVIRONMENTS_READ,
    SearchType.AUDIT_ENTRY: Scope.AUDIT_READ,
}
"""What a caller may read to find each type."""


class MatchKind(StrEnum):
    """How a field matches, from the best to the least."""

    EXACT = "exact"
    PREFIX = "prefix"
    WORDS = "words"
    """Every word of the search is in one of the fields; the field has the first of them."""


class Match(Struct, frozen=True):
    field: str
    kind: MatchKind


class Parent(Struct, frozen=True, kw_only=True):
    """What something belongs to that has no page of its own."""

    type: SearchType
    reference: str
    """How paths of the API name it."""


class Hit(Struct, frozen=True, kw_only=True):
    """Something that was found."""

    type: SearchType
    id: bytes
    reference: str
    """How paths of the API name it."""
    title: str
    subtitle: str | None
    match: Match
    parent: Parent | None = None


class SearchText(Struct, frozen=True, kw_only=True):
    """The text that is searched for."""

    text: str
    folded: str
    words: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> "SearchText":
        stripped = " ".join(text.split())
        if _PHONE.fullmatch(stripped):
            stripped = _NOT_DIALLED.sub("", stripped)
        return cls(text=stripped, folded=stripped.lower(), words=tuple(stripped.lower().split()))

    def match(self, fields: Mapping[str, str | None]) -> Match | None:
        """Return how the best of the fields matches, or None if none does."""
        folded = {name: value.lower() for name, value in fields.items() if value}
        for name, value in folded.items():
            if value == self.folded:
                return Match(name, MatchKind.EXACT)
        for name, value in folded.items():
            if value.startswith(self.folded):
                return Match(name, MatchKind.PREFIX)
        if all(any(word in value for value in folded.values()) for word in self.words):
            first = next(name for name, value in folded.items() if self.words[0] in value)
            return Match(first, MatchKind.WORDS)
        return None


_PHONE = re.compile(r"\+?[0-9][0-9 ().-]{3,}")
_NOT_DIALLED = re.compile(r"[ ().-]")
_KINDS = list(MatchKind)
_TYPES = list(SearchType)


def rank(hits: Iterable[Hit], *, limit: int) -> list[Hit]:
    """Order hits by how well they match, each thing once; many of one type do not push the others out."""
    once: dict[tuple[SearchType, bytes], Hit] = {}
    for hit in sorted(hits, key=_sort_key):
        once.setdefault((hit.type, hit.id), hit)
    ordered = list(once.values())
    share = max(limit // max(len({hit.type for hit in ordered}), 1), 1)
    counts: Counter[SearchType] = Counter()
    places: list[tuple[bool, int]] = []
    for place, hit in enumerate(ordered):
        counts[hit.type] += 1
        places.append((counts[hit.type] > share, place))
    return [ordered[place] for place in sorted(place for _, place in sorted(places)[:limit])]


def _sort_key(hit: Hit) -> tuple[int, int, str]:
    return _KINDS.index(hit.match.kind), _TYPES.index(hit.type), hit.title.lower()
