"""Which connections or endpoints a list has."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from clarion.contexts.model import stored_keys
from clarion.db.listing import Listing
from clarion.ids import EnvironmentId, SubscriberKey
from clarion.subscribers.addresses.model import ConnectionMode
from clarion.vocabulary import Channel


class AddressFilter(Struct, frozen=True, kw_only=True):
    """What a list is narrowed to; None is no filter."""

    subscriber_key: SubscriberKey | None = None
    has_shared: bool = False
    """Whether shared connections are listed beside those of the subscriber."""
    mode: ConnectionMode | None = None
    channel: Channel | None = None
    provider_id: str | None = None
    integration_identifier: str | None = None
    connection_identifier: str | None = None
    context_keys: Sequence[str] | None = None
    """Exactly these, in any order; empty for none."""


_OF_SUBSCRIBER = """
    t.subscriber_id = (SELECT id FROM subscribers WHERE environment_id = :environment_id AND key = :subscriber_key)
"""
_OF_CONNECTION = """
    t.connection_id = (
        SELECT id FROM channel_connections
        WHERE environment_id = :environment_id AND identifier = :connection_identifier
    )
"""
_MODES = {
    ConnectionMode.SUBSCRIBER: "t.subscriber_id IS NOT NULL",
    ConnectionMode.SHARED: "t.subscriber_id IS NULL",
}


def select_addresses(environment_id: EnvironmentId, wanted: AddressFilter, *, columns: str, source: str) -> Listing:
    """The list of connections or endpoints that fit the filter."""
    conditions = ["t.environment_id = :environment_id"]
    parameters: dict[str, Any] = {"environment_id": environment_id}
    for condition, name, value in (
        (_of_subscriber(wanted), "subscriber_key", wanted.subscriber_key),
        ("i.channel = :channel", "channel", wanted.channel),
        ("i.provider_id = :provider_id", "provider_id", wanted.provider_id),
        ("i.identifier = :integration_identifier", "integration_identifier", wanted.integration_identifier),
        (_OF_CONNECTION, "connection_identifier", wanted.connection_identifier),
        (
            "t.context_keys = :context_keys",
            "context_keys",
            None if wanted.context_keys is None else stored_keys(wanted.context_keys),
        ),
    ):
        if value is not None:
            conditions.append(condition)
            parameters[name] = value
    if wanted.mode is not None:
        conditions.append(_MODES[wanted.mode])
    return Listing(
        columns=columns,
        source=source,
        where=" AND ".join(conditions),
        parameters=parameters,
        is_selective=wanted.subscriber_key is not None or wanted.connection_identifier is not None,
    )


def _of_subscriber(wanted: AddressFilter) -> str:
    return f"({_OF_SUBSCRIBER} OR t.subscriber_id IS NULL)" if wanted.has_shared else _OF_SUBSCRIBER
