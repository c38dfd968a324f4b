"""Reasons that no other test of explanations asks for, each made by a real run: the verdict and what is named."""

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

import pytest

from clarion.clock import MINUTE
from clarion.db.port import Database
from clarion.providers.definition.receipts import ReceiptKind
from clarion.sending.suppressions.model import Suppression, SuppressionReason
from clarion.sending.suppressions.store import insert_suppressions
from clarion.vault import Vault
from clarion.vocabulary import Channel
from tests.engine.providers import account
from tests.engine.support import World, in_app, step
from tests.explain.support import explain_newest, report

EMAIL, SMS = step("email", subject="Hi", body="<p>x</p>"), step("sms", body="x")
ADA = {"subscriberId": "ada", "firstName": "Ada", "email": "ada@example.com"}
CRITICAL = {"workflow": {"all": {"enabled": True, "readOnly": True}}}


class Place(NamedTuple):
    world: World
    database: Database
    vault: Vault


Story = Callable[[Place], Awaitable[None]]


def run_of(*steps: dict[str, Any], to: Any = ADA, workflow: dict[str, Any] | None = None, **trigger: Any) -> Story:
    """A run without a provider that has to be made."""

    async def story(place: Place) -> None:
        for provider, channel in (("svc-email", "email"), ("svc-sms", "sms")):
            body = {"providerId": provider, "channel": channel, "active": True}
            await place.world.api.post("/v1/integrations", json=body)
        await place.world.make_workflow(*steps, **(workflow or {}))
        await place.world.trigger(to, **trigger)
        await place.world.work()

    return story


def reported(kind: ReceiptKind) -> Story:
    """A message of which its provider reports something later."""

    async def story(place: Place) -> None:
        async with account(place.world, "first") as first:
            await place.world.make_workflow(EMAIL)
            await place.world.trigger(ADA)
            await place.world.work()
        await report(place.database, place.vault, place.world, first.integration, kind, raw={"n": 1})

    return story


def unanswered(provider: str) -> Story:
    """A message that the provider takes without an answer."""

    async def story(place: Place) -> None:
        async with account(place.world, "first", provider) as first:
            first.break_down(None)
            await place.world.make_workflow(EMAIL)
            await place.world.trigger(ADA)
            await place.world.work()

    return story


def suppressed(channel: Channel, address: str, reason: SuppressionReason, then: Story) -> Story:
    async def story(place: Place) -> None:
        one = Suppression(
            environment_id=place.world.api.environment.id,
            channel=channel,
            address=address,
            reason=reason,
            created_at=place.world.clock.now(),
        )
        await place.database.transaction(lambda db: insert_suppressions(db, [one]))
        await then(place)

    return story


async def deleted_before_it_is_sent(place: Place) -> None:
    async with account(place.world, "first") as first:
        first.break_down()
        await place.world.make_workflow(EMAIL)
        await place.world.trigger(ADA)
        await place.world.work()
        await place.world.api.delete(f"/v1/messages/{(await place.world.messages())[-1]['_id']}")
        await place.world.work(after=2 * MINUTE)


async def outside_the_hours(place: Place) -> None:
    await place.world.api.post("/v2/subscribers", json=ADA)
    await place.world.set_schedule(sunday=[("09:00 AM", "10:00 AM")])
    delay = step("delay", type="regular", amount=1, unit="minutes", extendToSchedule=True)
    await run_of(delay, EMAIL, to="ada")(place)


_COPY = run_of(EMAIL, overrides={"email": {"cc": ["bob@example.com"]}})
_USER_OFF = {"preferences": {"user": {"all": {"enabled": True}, "channels": {"in_app": {"enabled": False}}}}}
_LINK = in_app("x", redirect={"url": "{{payload.url}}"})
_THROTTLE = step("throttle", type="fixed", unit="hours")
_DELAY = step("delay", type="regular", amount=1, unit="hours")

REASONS: list[tuple[str, Story, str, str, str]] = [
    ("delivered", reported(ReceiptKind.DELIVERED), "receipt", "passed", "the message arrived"),
    ("sent on", reported(ReceiptKind.SENT), "receipt", "passed", "it sent the message on"),
    ("deferred", reported(ReceiptKind.DEFERRED), "receipt", "waiting", "wants the message later"),
    ("failed", reported(ReceiptKind.FAILED), "receipt", "failed", "was not delivered"),
    ("opened", reported(ReceiptKind.OPENED), "receipt", "passed", "was opened"),
    ("clicked", reported(ReceiptKind.CLICKED), "receipt", "passed", "a link of the message was clicked"),
    ("unsubscribed", reported(ReceiptKind.UNSUBSCRIBED), "receipt", "stopped", "its receiver unsubscribed"),
    ("unconfirmed", unanswered("email-webhook"), "attempt", "failed", "may have taken the message"),
    ("possibly delivered", unanswered("mailgun"), "attempt", "failed", "'mailgun' may have taken the message"),
    ("deleted before", deleted_before_it_is_sent, "attempt", "stopped", "deleted before it was sent"),
    ("no phone", run_of(SMS), "address", "failed", "Ada had no phone number."),
    (
        "phone suppressed",
        suppressed(
            Channel.SMS, "442079460000", SuppressionReason.MANUAL, run_of(SMS, to=ADA | {"phone": "+442079460000"})
        ),
        "suppression",
        "stopped",
        "The phone number of Ada is suppressed since",
    ),
    (
        "copy suppressed",
        suppressed(Channel.EMAIL, "bob@example.com", SuppressionReason.BOUNCED, _COPY),
        "suppression",
        "passed",
        "left out: bob@example.com.",
    ),
    (
        "unsubscribed but critical",
        suppressed(
            Channel.EMAIL,
            "ada@example.com",
            SuppressionReason.UNSUBSCRIBED,
            run_of(EMAIL, workflow={"preferences": CRITICAL}),
        ),
        "suppression",
        "passed",
        "unsubscribed, but the workflow 'Welcome' was critical",
    ),
    ("preferences of the team", run_of(in_app(), workflow=_USER_OFF), "preference", "stopped", "The team of"),
    ("schedule", outside_the_hours, "schedule", "waiting", "when the hours of Ada begin"),
    ("link", run_of(_LINK, payload={"url": "javascript:alert(1)"}), "content", "passed", "Links that would run code"),
    (
        "attachment",
        run_of(EMAIL, payload={"attachments": [{"name": "a.txt"}]}),
        "content",
        "passed",
        "Attachments without a file",
    ),
    ("override", run_of(in_app(), overrides={"emial": {"cc": "x"}}), "content", "passed", "overrides of the trigger"),
    (
        "delay override",
        run_of(_DELAY, in_app(), overrides={"delay": {"amount": -1, "unit": "hours"}}),
        "delay",
        "passed",
        "`overrides.delay` of the trigger was ignored",
    ),
    ("throttle", run_of(_THROTTLE, in_app()), "throttle", "failed", "does not say how long"),
]


@pytest.fixture
def place(world: World, database: Database, vault: Vault) -> Place:
    return Place(world, database, vault)


@pytest.mark.parametrize(
    ("story", "kind", "verdict", "told"), [one[1:] for one in REASONS], ids=[one[0] for one in REASONS]
)
async def test_a_reason_is_told_with_its_verdict(
    place: Place, story: Story, kind: str, verdict: str, told: str
) -> None:
    await story(place)

    decisions = (await explain_newest(place.world))["decisions"]

    summaries = [one["summary"] for one in decisions if (one["kind"], one["verdict"]) == (kind, verdict)]
    assert any(told in one for one in summaries), decisions
