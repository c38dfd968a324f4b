"""Where data of a person is stored, and how it is exported.

A test compares this with the schema: each column is exported, or is named with the reason why not.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import Literal

from msgspec import Struct

from clarion.db.listing import add_lengths
from clarion.db.query import Query, sql

_OWNER = "who they are, which is exported once"


ItemKind = Literal[
    "subscriber",
    "channel",
    "topicSubscription",
    "preference",
    "contextPreference",
    "channelConnection",
    "channelEndpoint",
    "run",
    "job",
    "message",
    "suppression",
    "webhookEvent",
    "answer",
]


class PersonTable(Struct, frozen=True, kw_only=True, dict=True):
    """A table with rows of a person, whose columns are exported as members of one `kind` of item."""

    kind: ItemKind
    name: str
    columns: tuple[str, ...]
    keys: Mapping[str, str]
    """What rows are sorted by, in the order of an index: result column and SQL expression."""
    source: str = ""
    """The tables, where there is more than one; `t` is the one that is exported."""
    where: str = "t.subscriber_id = :subscriber_id"
    joined: Mapping[str, str] = {}
    """Columns of other tables, by the name of the result."""
    json: frozenset[str] = frozenset()
    flags: frozenset[str] = frozenset()
    omitted: Mapping[str, str] = {}
    """Columns that are not exported, with the reasons."""

    @cached_property
    def first_rows(self) -> Query:
        return self._select(self._result, "TRUE")

    @cached_property
    def next_rows(self) -> Query:
        return self._select(self._result, self._behind)

    @cached_property
    def first_weights(self) -> Query:
        return self._select(self._weight, "TRUE")

    @cached_property
    def next_weights(self) -> Query:
        return self._select(self._weight, self._behind)

    @property
    def _result(self) -> str:
        own = [f"t.{name} AS {name}" for name in self.columns]
        others = [f"{expression} AS {name}" for name, expression in self.joined.items()]
        keys = [f"{expression} AS key_{number}" for number, expression in enumerate(self.keys.values())]
        return ", ".join((*own, *others, *keys))

    @property
    def _weight(self) -> str:
        texts = [self.joined.get(name, f"t.{name}") for name in sorted(self.json | _LONG_TEXTS & set(self.columns))]
        return f"{add_lengths(*texts) if texts else '0'} AS weight"

    @property
    def _behind(self) -> str:
        names = ", ".join(f":key_{number}" for number in range(len(self.keys)))
        first = next(iter(self.keys.values()))
        # The first condition alone lets an index begin at the right place.
        return f"{first} >= :key_0 AND ({', '.join(self.keys.values())}) > ({names})"

    def _select(self, result: str, condition: str) -> Query:
        return sql(f"""
            SELECT {result} FROM {self.source or f"{self.name} AS t"}
            WHERE t.environment_id = :environment_id AND {self.where} AND {condition}
            ORDER BY {", ".join(self.keys.values())} LIMIT :limit
        """)


_LONG_TEXTS = frozenset({"content", "subject", "title", "error_text"})

EXPORTED = (
    PersonTable(
        kind="subscriber",
        name="subscribers",
        columns=(
            *("id", "key", "first_name", "last_name", "email", "phone", "avatar", "locale", "timezone", "data"),
            *("schedule", "is_online", "last_online_at", "version", "created_at", "updated_at"),
        ),
        keys={"id": "t.id"},
        where="t.id = :subscriber_id",
        json=frozenset({"data", "schedule"}),
        flags=frozenset({"is_online"}),
        omitted={
            "search_row": "a row number of the text index",
            "full_name": "made of the two names",
            "is_unproven": "how the row came to be",
        },
    ),
    PersonTable(
        kind="channel",
        name="subscriber_channels",
        columns=("integration_id", "provider_id", "credentials", "created_at"),
        keys={"integration_id": "t.integration_id"},
        json=frozenset({"credentials"}),
        omitted={"subscriber_id": _OWNER},
    ),
    PersonTable(
        kind="topicSubscription",
        name="topic_subscriptions",
        columns=("id", "topic_id", "identifier", "name", "preferences", "context_keys", "created_at", "updated_at"),
        keys={"id": "t.id"},
        source="topic_subscriptions AS t JOIN topics AS o ON o.environment_id = t.environment_id AND o.id = t.topic_id",
        joined={"topic_key": "o.key"},
        json=frozenset({"preferences", "context_keys"}),
        omitted={"subscriber_id": _OWNER},
    ),
    PersonTable(
        kind="preference",
        name="preferences",
        columns=("workflow_id", "channel", "enabled", "reason", "updated_at"),
        keys={"workflow_id": "t.workflow_id", "channel": "t.channel"},
        flags=frozenset({"enabled"}),
        omitted={"subscriber_id": _OWNER},
    ),
    PersonTable(
        kind="contextPreference",
        name="context_preferences",
        columns=("context_keys", "workflow_id", "channel", "enabled", "reason", "updated_at"),
        keys={"context_keys": "t.context_keys", "workflow_id": "t.workflow_id", "channel": "t.channel"},
        json=frozenset({"context_keys"}),
        flags=frozenset({"enabled"}),
        omitted={"subscriber_id": _OWNER},
    ),
    PersonTable(
        kind="channelConnection",
        name="channel_connections",
        columns=("id", "identifier", "integration_id", "context_keys", "workspace", "created_at", "updated_at"),
        keys={"id": "t.id"},
        json=frozenset({"context_keys", "workspace"}),
        omitted={
            "subscriber_id": _OWNER,
            "auth": "tokens that the application was given by the workspace",
            "trouble": "why the workspace refused to renew them, in its words about the application",
            "renewing_until": "while a process renews them",
        },
    ),
    PersonTable(
        kind="channelEndpoint",
        name="channel_endpoints",
        columns=(
            *("id", "identifier", "integration_id", "connection_id", "context_keys", "type", "created_at"),
            "updated_at",
        ),
        keys={"id": "t.id"},
        json=frozenset({"context_keys"}),
        omitted={"subscriber_id": _OWNER, "endpoint": "sealed; the operations of endpoints show it"},
    ),
    PersonTable(
        kind="run",
        name="notifications",
        columns=(
            *("id", "trigger_id", "workflow_id", "version_id", "recipient", "topics", "digested_into"),
            *("created_at", "updated_at"),
        ),
        keys={"id": "t.id"},
        source="""
            notifications AS t
            JOIN triggers AS g ON g.environment_id = t.environment_id AND g.id = t.trigger_id
        """,
        joined={
            "transaction_key": "g.transaction_key",
            "payload": "g.payload",
            "overrides": "g.overrides",
            "context": "g.context",
        },
        json=frozenset({"recipient", "topics", "payload", "overrides", "context"}),
        omitted={
            "subscriber_id": _OWNER,
            "step_types": "the kinds of steps, which the jobs have too",
            "status": "what the jobs come to",
        },
    ),
    PersonTable(
        kind="job",
        name="jobs",
        columns=(
            *("id", "notification_id", "step", "type", "status", "provider_id", "digest", "details", "due_at"),
            *("attempt", "outputs", "put_off_since", "dead_at", "created_at", "updated_at"),
        ),
        keys={"notification_id": "n.id", "step": "t.step"},
        source="""
            notifications AS n
            JOIN jobs AS t ON t.environment_id = n.environment_id AND t.notification_id = n.id
        """,
        where="n.environment_id = :environment_id AND n.subscriber_id = :subscriber_id",
        json=frozenset({"digest", "details", "outputs"}),
        omitted=dict.fromkeys(("queue", "lane", "priority", "changed_at"), "how workers share their work"),
    ),
    PersonTable(
        kind="message",
        name="messages",
        columns=(
            *("id", "notification_id", "job_id", "trigger_id", "workflow_id", "step_id", "channel", "provider_id"),
            *("integration_id", "provider_message_id", "delivery", "status", "content", "subject", "title", "email"),
            *("email_options", "phone", "webhook_url", "endpoint_id", "device_tokens", "cta", "avatar", "data"),
            *("severity", "seen"),
            *("read", "archived", "seen_at", "read_at", "archived_at", "snoozed_until", "delivered_at", "error_id"),
            *("error_text", "retry_at", "given_up_at", "refused_by", "context_keys", "tracking", "created_at"),
            *("updated_at", "unsubscribe_url", "place", "change", "change_reason", "former", "changed_at"),
        ),
        keys={"channel": "t.channel", "archived": "t.archived", "position": "t.position"},
        json=frozenset(
            {"delivery", "email_options", "device_tokens", "cta", "data", "delivered_at", "refused_by", "context_keys"}
            | {"tracking", "place", "former"},
        ),
        flags=frozenset({"seen", "read", "archived"}),
        omitted={
            "subscriber_id": _OWNER,
            "position": "its place in the inbox",
            "revision": "how often it was changed, which the job tells",
        },
    ),
    PersonTable(
        kind="suppression",
        name="suppressions",
        columns=("channel", "address", "reason", "provider_id", "message_id", "detail", "created_at"),
        keys={"channel": "t.channel", "address": "t.address"},
        where="t.address {any:addresses}",
    ),
    PersonTable(
        kind="webhookEvent",
        name="webhook_events",
        columns=("id", "type", "payload", "created_at", "url"),
        keys={"id": "p.event_id"},
        source="""
            webhook_event_people AS p
            JOIN webhook_events AS t ON t.environment_id = p.environment_id AND t.id = p.event_id
        """,
        where="p.environment_id = :environment_id AND p.subscriber_id = :subscriber_id",
        json=frozenset({"payload"}),
    ),
    PersonTable(
        kind="answer",
        name="answers",
        columns=("notification_id", "step_id", "choice", "label", "way", "answered_at"),
        keys={"notification_id": "t.notification_id", "step_id": "t.step_id"},
        omitted={"subscriber_id": _OWNER},
    ),
)
"""What an export has, in this order."""
