"""Words: enumerations that the API and the tables share, counts in sentences, and names that mistyped ones may mean."""

from collections.abc import Iterable
from enum import StrEnum

_MAX_NAME = 64
"""Longer names are not compared: the time grows with the square of the length."""


class Channel(StrEnum):
    IN_APP = "in_app"
    """Messages in the inbox."""
    EMAIL = "email"
    """E-mails."""
    SMS = "sms"
    """Text messages to phones."""
    CHAT = "chat"
    """Messages of chat providers."""
    PUSH = "push"
    """Push messages to devices."""
    TOOL = "tool"
    """Alerts in tools of on-call teams, and webhooks."""


class StepType(StrEnum):
    """What steps do. Runs store which of them they have as bits in this order: add at the end."""

    IN_APP = "in_app"
    EMAIL = "email"
    SMS = "sms"
    CHAT = "chat"
    PUSH = "push"
    DIGEST = "digest"
    TRIGGER = "trigger"
    DELAY = "delay"
    THROTTLE = "throttle"
    CUSTOM = "custom"
    BRANCH = "branch"
    EXIT = "exit"
    TOOL = "tool"
    WAIT_FOR = "wait_for"
    HTTP_REQUEST = "http_request"
    ASK = "ask"
    UPDATE = "update"
    CLEAR = "clear"


class JobStatus(StrEnum):
    PENDING = "pending"
    QUEUED = "queued"
    RUNNING = "running"
    DELAYED = "delayed"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELED = "canceled"
    MERGED = "merged"
    SKIPPED = "skipped"


class RunStatus(StrEnum):
    """What has become of a run; jobs.run_status has the rule. Stored as numbers in this order: add at the end."""

    RUNNING = "running"
    """Being worked on."""
    WAITING = "waiting"
    """Waits for a delay, a digest, a schedule or a retry."""
    COMPLETED = "completed"
    """Everything was done."""
    PARTLY_FAILED = "partly_failed"
    """Some messages were sent, others failed."""
    FAILED = "failed"
    """Nothing was sent, because of errors."""
    SKIPPED = "skipped"
    """Nothing was sent, by conditions or preferences."""
    CANCELED = "canceled"
    """Canceled by a caller."""
    MERGED = "merged"
    """Taken in by the digest of another run."""


class MessageStatus(StrEnum):
    SENT = "sent"
    ERROR = "error"
    WARNING = "warning"


class MarkAs(StrEnum):
    READ = "read"
    SEEN = "seen"
    UNREAD = "unread"
    UNSEEN = "unseen"


class OrderBy(StrEnum):
    ID = "_id"
    UPDATED_AT = "updatedAt"


class OrderDirection(StrEnum):
    ASC = "ASC"
    DESC = "DESC"


class Criticality(StrEnum):
    NON_CRITICAL = "nonCritical"
    CRITICAL = "critical"
    ALL = "all"


class Severity(StrEnum):
    HIGH = "high"
    """Of high severity."""
    MEDIUM = "medium"
    """Of medium severity."""
    LOW = "low"
    """Of low severity."""
    NONE = "none"
    """Of no particular severity."""


class Scope(StrEnum):
    """What an API key may do: read or write one group of resources, or everything."""

    ALL = "all"
    SUBSCRIBERS_READ = "subscribers:read"
    SUBSCRIBERS_WRITE = "subscribers:write"
    TOPICS_READ = "topics:read"
    TOPICS_WRITE = "topics:write"
    SEGMENTS_READ = "segments:read"
    SEGMENTS_WRITE = "segments:write"
    CONTEXTS_READ = "contexts:read"
    CONTEXTS_WRITE = "contexts:write"
    INTEGRATIONS_READ = "integrations:read"
    INTEGRATIONS_WRITE = "integrations:write"
    INTEGRATIONS_SECRETS = "integrations:secrets"
    """Shows the secrets among credentials, which INTEGRATIONS_READ masks."""
    WORKFLOWS_READ = "workflows:read"
    WORKFLOWS_WRITE = "workflows:write"
    PREFERENCES_READ = "preferences:read"
    PREFERENCES_WRITE = "preferences:write"
    MESSAGES_READ = "messages:read"
    MESSAGES_WRITE = "messages:write"
    EVENTS_READ = "events:read"
    EVENTS_WRITE = "events:write"
    WEBHOOKS_READ = "webhooks:read"
    WEBHOOKS_WRITE = "webhooks:write"
    ENVIRONMENTS_READ = "environments:read"
    ENVIRONMENTS_WRITE = "environments:write"
    AUDIT_READ = "audit:read"
    SEARCH_READ = "search:read"
    """Finds things of all kinds, each kind with its own scope."""
    MEMBERS_READ = "members:read"
    MEMBERS_WRITE = "members:write"
    ORGANIZATION_REACH = "organization:reach"
    """Lets an API key use its other scopes in all environments of the organization."""
    SCHEDULES_READ = "schedules:read"
    SCHEDULES_WRITE = "schedules:write"


GIVEN_BY_NAME = frozenset({Scope.MEMBERS_READ, Scope.MEMBERS_WRITE, Scope.ORGANIZATION_REACH})
"""Scopes that reach beyond the environment of a key: no part of ALL, and given only by owners and the operator."""

SCOPE_DESCRIPTIONS = {
    Scope.ALL: "Everything in the environment of the key, including what later versions add; "
    "not the scopes of the organization (members:read, members:write, organization:reach).",
    Scope.SUBSCRIBERS_READ: "List subscribers, with their addresses and channel credentials, and export their data.",
    Scope.SUBSCRIBERS_WRITE: "Create and change subscribers and their channel credentials, and erase them.",
    Scope.TOPICS_READ: "List topics and who is subscribed to them.",
    Scope.TOPICS_WRITE: "Create, change and delete topics, and subscribe people to them.",
    Scope.SEGMENTS_READ: "List segments with their conditions, and with events:write trigger workflows for them; "
    "to see who is in them, subscribers:read and topics:read are needed too.",
    Scope.SEGMENTS_WRITE: "Create, change and delete segments.",
    Scope.CONTEXTS_READ: "List contexts with their data.",
    Scope.CONTEXTS_WRITE: "Create, change and delete contexts, and let triggers create them.",
    Scope.INTEGRATIONS_READ: "List integrations and providers; secrets among the credentials are masked.",
    Scope.INTEGRATIONS_WRITE: "Create, change, test and delete integrations.",
    Scope.INTEGRATIONS_SECRETS: "See the secrets among the credentials of integrations; needs integrations:read too.",
    Scope.WORKFLOWS_READ: "List workflows with their steps, and preview steps.",
    Scope.WORKFLOWS_WRITE: "Create, change, copy and delete workflows.",
    Scope.PREFERENCES_READ: "Read the preferences of subscribers.",
    Scope.PREFERENCES_WRITE: "Change the preferences of subscribers.",
    Scope.MESSAGES_READ: "Read messages of all channels, the outbox and suppressed addresses.",
    Scope.MESSAGES_WRITE: "Mark, change, withdraw and delete messages, and suppress addresses or clear them.",
    Scope.EVENTS_READ: "Read triggered events with what became of them, and dead letters.",
    Scope.EVENTS_WRITE: "Trigger workflows, cancel triggers, and redrive dead letters.",
    Scope.WEBHOOKS_READ: "List webhook endpoints, without their secrets, and deliveries to them.",
    Scope.WEBHOOKS_WRITE: "Create, change, test and delete webhook endpoints, rotate their secrets, replay deliveries.",
    Scope.ENVIRONMENTS_READ: "Read the environment and its API keys without their secrets, and list scopes.",
    Scope.ENVIRONMENTS_WRITE: "Change the environment, end sessions, and create, change and revoke API keys.",
    Scope.AUDIT_READ: "Read the audit log: who changed which part of the configuration.",
    Scope.SEARCH_READ: "Search everything that the other scopes of the key may read.",
    Scope.MEMBERS_READ: "List the members of the organization, with their roles.",
    Scope.MEMBERS_WRITE: "Invite members, change their roles and remove them.",
    Scope.ORGANIZATION_REACH: "Use the other scopes of the key in all environments of the organization; "
    "create, compare, promote and delete them.",
    Scope.SCHEDULES_READ: "List schedules, with whom they are for and what they did.",
    Scope.SCHEDULES_WRITE: "Delete schedules, and with events:write create and change them.",
}
"""What each scope allows, in a sentence."""


class Role(StrEnum):
    """What a member may do, from the least to the most."""

    VIEWER = "viewer"
    """Sees everything but secrets."""
    AUTHOR = "author"
    """Also changes workflows, people, topics and preferences, and triggers events."""
    ADMIN = "admin"
    """Also changes integrations, webhooks, keys and settings, and manages members up to this role."""
    OWNER = "owner"
    """Also creates and deletes environments, and manages all members."""


class ChannelProvider(StrEnum):
    """The providers that a subscriber can hold credentials for, as the credentials operation accepts them."""

    SLACK = "slack"
    DISCORD = "discord"
    MSTEAMS = "msteams"
    MATTERMOST = "mattermost"
    RYVER = "ryver"
    ZULIP = "zulip"
    GRAFANA_ON_CALL = "grafana-on-call"
    GETSTREAM = "getstream"
    ROCKET_CHAT = "rocket-chat"
    WHATSAPP_BUSINESS = "whatsapp-business"
    CHAT_WEBHOOK = "chat-webhook"
    TELEGRAM = "telegram"
    WEBEX_MESSAGING = "webex-messaging"
    LINE = "line"
    FCM = "fcm"
    APNS = "apns"
    EXPO = "expo"
    ONE_SIGNAL = "one-signal"
    PUSHPAD = "pushpad"
    PUSH_WEBHOOK = "push-webhook"
    PUSHER_BEAMS = "pusher-beams"


class FilterType(StrEnum):
    BOOLEAN = "BOOLEAN"
    TEXT = "TEXT"
    DATE = "DATE"
    NUMBER = "NUMBER"
    STATEMENT = "STATEMENT"
    LIST = "LIST"
    MULTI_LIST = "MULTI_LIST"
    GROUP = "GROUP"


class FilterJoin(StrEnum):
    AND = "AND"
    OR = "OR"


class FilterSource(StrEnum):
    SUBSCRIBER = "subscriber"
    PAYLOAD = "payload"


class FilterOperator(StrEnum):
    LARGER = "LARGER"
    SMALLER = "SMALLER"
    LARGER_EQUAL = "LARGER_EQUAL"
    SMALLER_EQUAL = "SMALLER_EQUAL"
    EQUAL = "EQUAL"
    NOT_EQUAL = "NOT_EQUAL"
    ALL_IN = "ALL_IN"
    ANY_IN = "ANY_IN"
    NOT_IN = "NOT_IN"
    BETWEEN = "BETWEEN"
    NOT_BETWEEN = "NOT_BETWEEN"
    LIKE = "LIKE"
    NOT_LIKE = "NOT_LIKE"
    IN = "IN"


def find_nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is most like `name`, if one is like it at all; case does not count."""
    from difflib import get_close_matches  # noqa: PLC0415 - used for mistakes only

    if len(name) > _MAX_NAME:
        return None
    by_folded = {one.casefold().replace("_", ""): one for one in known}
    matches = get_close_matches(name.casefold().replace("_", ""), by_folded, n=1, cutoff=0.7)
    return by_folded[matches[0]] if matches else None


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return the end of a sentence that asks whether another name was meant; empty if none is like it."""
    nearest = find_nearest(name, known)
    return "" if nearest is None else f"; did you mean '{nearest}'?"


def count_text(count: float, singular: str, many: str) -> str:
    """Return such as "1 run", "3 runs" or "0.5 seconds"."""
    return f"{count:.12g} {singular if count == 1 else many}"
