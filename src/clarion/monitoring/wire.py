"""Shapes of the status of an environment."""

from typing import Annotated, Self

from msgspec import UNSET, UnsetType, field

from clarion import __version__
from clarion.clock import Millis, iso_text
from clarion.http.wire import DateTimeText, Wire, one_of
from clarion.ids import id_text
from clarion.monitoring.backlog import Queue, QueueBacklog
from clarion.monitoring.store_state import MAX_COUNTED_IN_ENVIRONMENT, EnvironmentSnapshot, FailingIntegration
from clarion.providers.builtin import BuiltinNames
from clarion.vocabulary import Channel


class QueueBacklogOut(Wire):
    """What could be worked on now."""

    count: int
    """How many could be worked on now, up to 1000."""
    is_capped: bool
    """Whether there are more than were counted."""
    since: DateTimeText | UnsetType = UNSET
    """When the oldest of it was due; absent if nothing waits."""
    oldest_seconds: float
    """For how many seconds the oldest of it has waited."""

    @classmethod
    def of(cls, waiting: QueueBacklog, now: Millis) -> Self:
        return cls(
            count=waiting.count,
            is_capped=waiting.count >= MAX_COUNTED_IN_ENVIRONMENT,
            since=UNSET if waiting.since is None else iso_text(waiting.since),
            oldest_seconds=waiting.seconds(now),
        )


class FailingIntegrationOut(Wire):
    """An integration whose last sends failed."""

    id: str = field(name="_id")
    name: str
    """What people call the integration."""
    identifier: str
    """Your own name of the integration."""
    provider_id: str
    channel: Annotated[str, one_of(Channel)]
    """The channel of the provider."""
    failures: int
    is_open: bool
    """Whether nothing is sent through it now, and others are used."""

    @classmethod
    def of(cls, integration: FailingIntegration, names: BuiltinNames) -> Self:
        return cls(
            id=id_text(integration.id),
            name=integration.name,
            identifier=integration.identifier,
            provider_id=names.to_wire(integration.provider_id),
            channel=integration.channel,
            failures=integration.failures,
            is_open=integration.is_open,
        )


class EnvironmentStatusOut(Wire):
    """How the work of an environment goes."""

    version: str
    """The version of Clarion that answered."""
    workers: int
    """How many processes run workflows, for all environments."""
    backlog: dict[Queue, QueueBacklogOut]
    """What could be worked on now, by who takes it."""
    dead_letters: int
    """How many dead letters there are, up to 1000."""
    dead_letters_capped: bool
    """Whether there are more than were counted."""
    failing_integrations: list[FailingIntegrationOut] | UnsetType = UNSET
    """Up to 20 integrations whose last sends failed; absent if the caller may not read integrations."""

    @classmethod
    def of(cls, state: EnvironmentSnapshot, names: BuiltinNames, *, shows_integrations: bool) -> Self:
        return cls(
            version=__version__,
            workers=state.workers,
            backlog={queue: QueueBacklogOut.of(waiting, state.read_at) for queue, waiting in state.backlog.items()},
            dead_letters=state.dead_letters,
            dead_letters_capped=state.dead_letters >= MAX_COUNTED_IN_ENVIRONMENT,
            failing_integrations=(
                [FailingIntegrationOut.of(one, names) for one in state.failing] if shows_integrations else UNSET
            ),
        )
