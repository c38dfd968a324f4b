"""What a simulation came to: for each person the decisions, and the messages that would be sent."""

from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import urlsplit

from msgspec import Struct

from clarion.clock import Millis
from clarion.db.port import Row, Sandbox
from clarion.environments.configuration import get_configuration_version
from clarion.explain.run import explain_run
from clarion.ids import EnvironmentId, IntegrationId, NotificationId, TriggerId, id_text
from clarion.integrations.model import Integration
from clarion.integrations.store import IntegrationCache
from clarion.jsontext import json_value
from clarion.simulate import store
from clarion.simulate.model import Scenario, SimulatedMessage, SimulatedRecipient
from clarion.subscribers.store import list_subscribers_by_id
from clarion.vocabulary import Channel
from clarion.workflows.store import list_versions_by_id

_SHOWN_OF_TOKEN = 6


class _Names(Struct, frozen=True):
    """What ids of messages stand for."""

    integrations: Mapping[IntegrationId, Integration]
    steps: Mapping[bytes, str]


async def list_recipients(
    db: Sandbox, scenario: Scenario, integrations: IntegrationCache, trigger_id: TriggerId, now: Millis
) -> list[SimulatedRecipient]:
    """The people of a trigger, with what it led to in the sandbox until now."""
    environment_id = scenario.request.environment_id
    runs = await store.list_runs(db, environment_id)
    messages = await store.list_messages(db, environment_id, since=scenario.at)
    own = [row for row in runs.values() if row["trigger_id"] == trigger_id]
    people = await list_subscribers_by_id(db, environment_id, [row["subscriber_id"] for row in own])
    names = await _list_names(db, environment_id, integrations, runs.values())
    recipients = []
    for row in own:
        explanation = await explain_run(db, environment_id, row["id"], now)
        key = people[row["subscriber_id"]].key
        sent = [message for run_id in _follow(runs, row["id"]) for message in messages.get(run_id, ())]
        recipients.append(
            SimulatedRecipient(
                subscriber_key=key,
                decisions=explanation.decisions,
                messages=[_message(message, names, key) for message in sent],
            )
        )
    return recipients


async def _list_names(
    db: Sandbox, environment_id: EnvironmentId, integrations: IntegrationCache, runs: Iterable[Row]
) -> _Names:
    configuration = await get_configuration_version(db, environment_id)
    known = await integrations.list(db, environment_id, configuration)
    versions = await list_versions_by_id(db, environment_id, {row["version_id"] for row in runs})
    steps = {step.id_bytes: step.step_id for version in versions.values() for step in version.steps}
    return _Names({one.id: one for one in known}, steps)


def _follow(runs: Mapping[NotificationId, Row], run_id: NotificationId) -> Iterator[NotificationId]:
    """Yield the run, and those that its digests were merged into, one after the other."""
    seen: set[NotificationId] = set()
    following: NotificationId | None = run_id
    while following is not None and following in runs and following not in seen:
        seen.add(following)
        yield following
        following = runs[following]["digested_into"]


def _message(row: Row, names: _Names, subscriber_key: str) -> SimulatedMessage:
    integration = _find_integration(row, names.integrations)
    delivered_at = json_value(row["delivered_at"])
    return SimulatedMessage(
        at=delivered_at[0] if delivered_at else row["created_at"],
        channel=Channel(row["channel"]),
        step_id=names.steps.get(row["step_id"], id_text(row["step_id"])),
        to=_address(row, subscriber_key),
        provider_id=row["provider_id"],
        integration=None if integration is None else integration.identifier,
        subject=row["subject"] or row["title"],
        content=row["content"],
    )


def _find_integration(row: Row, integrations: Mapping[IntegrationId, Integration]) -> Integration | None:
    if row["integration_id"] is not None:
        return integrations.get(row["integration_id"])
    in_app = (one for one in integrations.values() if one.active and one.channel is Channel.IN_APP)
    return next(in_app, None) if row["channel"] == Channel.IN_APP else None


def _address(row: Row, subscriber_key: str) -> str:
    """Where the message goes; what would let others write there is not shown whole."""
    channel = Channel(row["channel"])
    if channel is Channel.EMAIL:
        return str(row["email"])
    if channel is Channel.SMS:
        return str(row["phone"])
    if channel is Channel.PUSH and row["device_tokens"]:
        return ", ".join(f"…{token[-_SHOWN_OF_TOKEN:]}" for token in json_value(row["device_tokens"]))
    if channel is Channel.CHAT and (row["webhook_url"] or row["phone"]):
        return str(urlsplit(row["webhook_url"]).hostname if row["webhook_url"] else row["phone"])
    return str(row["endpoint_identifier"] or subscriber_key)
