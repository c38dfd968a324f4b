"""A client that an independent generator makes of the API description works with a running service."""

import datetime as dt
import importlib
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from clarion.http.description.openapi import describe_api
from clarion.operations import OPERATIONS
from tests.processes import Process

PACKAGE = "generated_client"
GENERATOR = Path(sys.prefix) / "generator" / "bin" / "openapi-python-client"
SECONDS = 60


class Client(Struct, frozen=True):
    """The generated package, connected to the service."""

    connection: Any

    def send(self, operation: str, **arguments: Any) -> Any:
        """Call an operation such as `triggers.trigger_event`; returns status and body in their generated types."""
        module = importlib.import_module(f"{PACKAGE}.api.{operation}")
        return module.sync_detailed(client=self.connection, **arguments)

    @property
    def models(self) -> Any:
        return importlib.import_module(f"{PACKAGE}.models")

    def wait_for_events(self, count: int) -> list[Any]:
        """The events, as soon as all their jobs are completed."""
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            events: list[Any] = self.send("notifications.list_events").parsed.data
            if len(events) == count and all(job.status == "completed" for event in events for job in event.jobs):
                return events
            time.sleep(0.05)
        raise AssertionError(f"there are no {count} events whose jobs are completed: {events}")


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The name of the generated package, which can be imported."""
    folder = tmp_path_factory.mktemp("generated")
    description, configuration = folder / "openapi.json", folder / "generator.yml"
    description.write_bytes(describe_api(OPERATIONS))
    configuration.write_text("post_hooks: []\n")
    options = ["--path", description, "--config", configuration, "--output-path", folder / PACKAGE, "--meta", "none"]

    made = subprocess.run(
        [GENERATOR, "generate", *map(str, options), "--fail-on-warning"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert made.returncode == 0, made.stdout + made.stderr
    sys.path.insert(0, str(folder))
    yield PACKAGE
    sys.path.remove(str(folder))


@pytest.fixture(scope="module")
def client(package: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    process = Process(["serve", "--data-dir", str(tmp_path_factory.mktemp("data"))], {"CLARION_LOG_LEVEL": "error"})
    connect = importlib.import_module(package).AuthenticatedClient
    with (
        closing(process),
        connect(process.address, process.keys["Development"], prefix="ApiKey") as connection,
    ):
        yield Client(connection)


def test_a_generated_client_creates_triggers_and_reads(client: Client) -> None:
    ada = client.models.SubscriberIn(subscriber_id="ada", email="ada@example.com")
    assert client.send("subscribers.create_subscriber", body=ada).parsed.email == "ada@example.com"
    controls = client.models.StepInControlValuesType0.from_dict({"body": "Hello {{payload.who}}"})
    step = client.models.StepIn(name="Inbox", type_=client.models.StepKind.IN_APP, control_values=controls)
    workflow = client.models.WorkflowIn(name="Welcome", workflow_id="welcome", steps=[step])
    assert client.send("workflows.create_workflow", body=workflow).parsed.status == "ACTIVE"
    members = client.models.SubscriptionsIn(subscriber_ids=["ada"])
    client.send("topics.create_subscriptions", topic_key="news", body=members)

    bob = client.models.SubscriberIn(subscriber_id="bob")
    for to in ("ada", bob, client.models.TopicRecipientIn(topic_key="news"), ["ada", bob]):
        payload = client.models.TriggerInPayloadType0.from_dict({"who": "you"})
        trigger = client.models.TriggerIn(name="welcome", to=to, payload=payload)
        answer = client.send("triggers.trigger_event", body=trigger)
        assert (answer.status_code, answer.parsed.status) == (201, "processed")

    events = client.wait_for_events(5)
    assert sorted(event.subscriber.subscriber_id for event in events) == ["ada", "ada", "ada", "bob", "bob"]
    assert isinstance(events[0].created_at, dt.datetime)
    assert events[0].payload["who"] == "you"


def test_a_generated_client_knows_what_is_wrong_with_a_request(client: Client) -> None:
    refused = client.send("triggers.trigger_event", body=client.models.TriggerIn(name="welcome", to=" ada "))

    assert refused.status_code == 422
    assert refused.parsed.errors["to"].messages == [
        "must have 1 to 255 characters, no control characters and no white space at its ends"
    ]
