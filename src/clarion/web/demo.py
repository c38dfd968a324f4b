"""The demo: a workflow of the first development environment that notifies Ada, who sees it on the demo page."""

import itertools

from msgspec import Struct

from clarion.audit.model import SERVICE
from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.environments.model import Environment
from clarion.environments.store import list_environments
from clarion.errors import AlreadyExists, NotFound, RequestError
from clarion.ids import EnvironmentId, SubscriberKey, TransactionKey, WorkflowKey
from clarion.integrations.store import list_integrations
from clarion.triggers.actions import Accepted, accept_triggers
from clarion.triggers.model import AddressedPerson, TriggerOutcome
from clarion.triggers.requests import TriggerRequest
from clarion.vault import Vault
from clarion.vocabulary import Channel
from clarion.workflows.actions import create_workflow
from clarion.workflows.history import VersionOrigin
from clarion.workflows.step_wire import StepIn, StepKind
from clarion.workflows.steps import build_steps
from clarion.workflows.store import find_workflow

WORKFLOW_KEY = WorkflowKey("clarion-demo")
SUBSCRIBER_KEY = SubscriberKey("ada")

_STEP = StepIn(
    name="Inbox",
    type=StepKind.IN_APP,
    control_values={
        "subject": "{{payload.subject}}",
        "body": "{{payload.body}}",
        "primaryAction": {"label": "{{payload.action}}", "redirect": {"url": "/docs", "target": "_blank"}},
    },
)


class Sample(Struct, frozen=True):
    subject: str
    body: str
    action: str


SAMPLES = (
    Sample("Charles commented on **Engine notes**", "“The *difference* is in the details.” Shall we publish?", "Reply"),
    Sample("Your export is ready", "**1 204 rows** of *Bernoulli numbers*, kept for a week.", "Download"),
    Sample("Mary invited you to **Analytical Society**", "She writes: come on Thursday, there will be tea.", "Accept"),
)
_samples = itertools.cycle(SAMPLES)


async def get_demo_environment(db: Connection) -> Environment:
    for environment in await list_environments(db):
        if environment.kind == "dev":
            return environment
    raise NotFound("An environment of the kind", "dev")


async def needs_hash(db: Connection, environment_id: EnvironmentId, vault: Vault) -> bool:
    """Whether sessions of the environment must prove who the subscriber is."""
    integrations = await list_integrations(db, environment_id, vault)
    inboxes = [one for one in integrations if one.channel is Channel.IN_APP and one.active]
    return any(one.credentials.get("hmac") is True for one in inboxes)


async def trigger_demo(db: Connection, now: Millis) -> TransactionKey:
    """Trigger the demo workflow, which is created if it does not exist."""
    environment = await get_demo_environment(db)
    if await find_workflow(db, environment.id, WORKFLOW_KEY) is None:
        await _create_workflow(db, environment.id, now)
    sample = next(_samples)
    request = TriggerRequest(
        environment_id=environment.id,
        name=WORKFLOW_KEY,
        wanted=[AddressedPerson(key=SUBSCRIBER_KEY)],
        payload={"subject": sample.subject, "body": sample.body, "action": sample.action},
        overrides=None,
        transaction=None,
        actor=None,
    )
    (outcome,) = (await accept_triggers(db, [request], now)).outcomes
    if isinstance(outcome, RequestError):
        raise outcome
    return _check(outcome)


async def _create_workflow(db: Connection, environment_id: EnvironmentId, now: Millis) -> None:
    fields = {"key": WORKFLOW_KEY, "name": "Demo", "description": "Made by the demo page", "tags": ["demo"]}
    content = {"steps": build_steps([_STEP], (), now)}
    await create_workflow(db, environment_id, fields, content, now, VersionOrigin(actor=SERVICE))


def _check(accepted: Accepted) -> TransactionKey:
    if accepted.outcome is not TriggerOutcome.PROCESSED:
        raise AlreadyExists(
            f"The workflow '{WORKFLOW_KEY}' exists but cannot run ({accepted.outcome}); delete it, "
            "and the button creates it anew"
        )
    return accepted.transaction
