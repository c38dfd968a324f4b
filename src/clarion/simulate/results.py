"""What a simulation came to: for each person the decisions, and the messages that would be sent."""

from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import urlsplit

from clarion.clock import Millis
from clarion.db.port import Row, Sandbox
from clarion.environments.configuration import get_configuration_version
from clarion.explain.run import explain_run
from clarion.ids import EnvironmentId, IntegrationId, NotificationId, TriggerId, id_text
from clarion.integrations.cache import IntegrationCache
from clarion.integrations.model import Integration
from clarion.jsontext import json_value
from clarion.simulate import store
from clarion.simulate.model import SimulatedMessage, SimulatedRecipient
from clarion.subscribers.store import list_subscribers_by_id
from clarion.vocabulary import Channel
from clarion.workflows.store import list_versions_by_id

_SHOWN_OF_TOKEN = 6


class Results:
    """Reads the sandbox after a rehearsal."""

    def __init__(self, db: Sandbox, environment_id: EnvironmentId, integrations: IntegrationCache) -> None:
        self._db = db
        self._environment_id = environment_id
        self._integrations = integrations

    async def list_recipients(self, trigger_id: TriggerId, *, since: Millis, now: Millis) -> list[SimulatedRecipient]:
        """The people of a trigger, with what it leads to from one moment to another."""
        runs = await store.list_runs(self._db, self._environment_id)
        messages = await store.list_messages(self._db, self._environment_id, since=since)
        own = [row for row in runs.values() if row["trigger_id"] == trigger_id]
        people = await list_subscribers_by_id(self._db, self._environment_id, [row["subscriber_id"] for row in own])
        describe = await self._make_description(runs.values())
        recipients = []
        for row in own:
            explained = await explain_run(self._db, self._environment_id, row["id"], now)
            person = people[row["subscriber_id"]]
            recipients.append(
                SimulatedRecipient(
                    subscriber_key=person.key,
                    decisions=explained.decisions,
                    messages=[
                        describe.describe(message, person.key)
                        for run_id in _follow(runs, row["id"])
                        for message in messages.get(run_id, ())
                    ],
                )
            )
        return recipients

    async def _make_description(self, runs: Iterable[Row]) -> "_Description":
        version = await get_configuration_version(self._db, self._environment_id)
        known = await self._integrations.list(self._db, self._environment_id, version)
        versions = await list_versions_by_id(self._db, self._environment_id, {row["version_id"] for row in runs})
        steps = {step.id_bytes: step.step_id for one in versions.values() for step in one.steps}
        return _Description({one.id: one for one in known}, steps)


def _follow(runs: Mapping[NotificationId, Row], run_id: NotificationId) -> Iterator[NotificationId]:
    """Yield the run, and those that its digests were merged into, one after the other."""
    seen: set[NotificationId] = set()
    following: NotificationId | None = run_id
    while following is not None and following in runs and following not in seen:
        seen.add(following)
        yield following
        following = runs[following]["digested_into"]


class _Description:
    def __init__(self, integrations: Mapping[IntegrationId, Integration], steps: Mapping[bytes, str]) -> None:
        self._integrations = integrations
        self._steps = steps

    def describe(self, row: Row, subscriber_key: str) -> SimulatedMessage:
        integration = self._find_integration(row)
        delivered_at = json_value(row["delivered_at"])
        return SimulatedMessage(
            at=delivered_at[0] if delivered_at else row["created_at"],
            channel=Channel(row["channel"]),
            step_id=self._steps.get(row["step_id"], id_text(row["step_id"])),
            to=_address(row, subscriber_key),
            provider_id=row["provider_id"],
            integration=None if integration is None else integration.identifier,
            subject=row["subject"] or row["title"],
            content=row["content"],
        )

    def _find_integration(self, row: Row) -> Integration | None:
        if row["integration_id"] is not None:
            return self._integrations.get(row["integration_id"])
        in_app = (one for one in self._integrations.values() if one.active and one.channel is Channel.IN_APP)
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
    return subscriber_key
