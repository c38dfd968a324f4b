"""Whatever two or three accounts answer, in any order: calls, attempts and execution details are bounded, and every
job ends."""

import itertools
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from clarion.app import Application
from clarion.clock import HOUR, MINUTE, SECOND
from clarion.db.port import Database
from clarion.db.query import sql
from clarion.engine.worker import Engine
from clarion.providers.definition.outgoing import Outgoing
from clarion.providers.definition.result import FailureKind, SendFailure, Sent, mark_ambiguous, refuse_account
from clarion.providers.sending.gateway import ProviderGateway
from clarion.providers.transport.egress import EgressGuard
from clarion.sending.retry import ATTEMPTS_ON_OTHERS, MAX_ATTEMPTS
from clarion.vault import Vault
from tests.engine.providers import ADA, EMAIL
from tests.engine.support import World, details

NEXT_DUE = sql("SELECT MIN(due_at) AS due_at FROM jobs WHERE environment_id = :environment_id AND queue = 2")
MAX_TURNS = 1500
LIMIT_OF_CALLS = 600
"""Three accounts that ask for eleven seconds' patience all day come to this; a loop passes it within minutes."""


def later(seconds: int | None) -> SendFailure:
    return SendFailure(FailureKind.RATE_LIMITED, "Too many requests", retry_after=seconds)


ANSWERS: dict[str, Callable[[], SendFailure | None]] = {
    "200": lambda: None,
    "400": lambda: SendFailure(FailureKind.PERMANENT, "Bad request"),
    "401": lambda: refuse_account("Unauthorized"),
    "429": lambda: later(None),
    "429 after 1 s": lambda: later(1),
    "429 after 11 s": lambda: later(11),
    "429 after 120 s": lambda: later(120),
    "429 after 1 day": lambda: later(86400),
    "503": lambda: SendFailure(FailureKind.RETRYABLE, "Service unavailable"),
    "time-out": lambda: mark_ambiguous(SendFailure(FailureKind.RETRYABLE, "No answer")),
    "refused": lambda: SendFailure(FailureKind.RETRYABLE, "Connection refused"),
}
# The last answer of each account is repeated without end.
scripts = st.lists(st.lists(st.sampled_from(sorted(ANSWERS)), min_size=1, max_size=5), min_size=2, max_size=3)


class Scripted(ProviderGateway):
    """Answers as the script of each account says, by the address that it sends from."""

    def __init__(self) -> None:
        super().__init__(EgressGuard())
        self.scripts: list[list[str]] = []
        self.calls: list[tuple[int, str]] = []

    async def send(self, provider_id: str, outgoing: Outgoing) -> Sent:
        place = int(str(outgoing.credentials["from"]).partition("@")[0])
        script = self.scripts[place]
        answer = script[min(sum(one == place for one, _ in self.calls), len(script) - 1)]
        self.calls.append((place, answer))
        failure = ANSWERS[answer]()
        if failure is not None:
            raise failure
        return Sent(provider_message_id="1")


@asynccontextmanager
async def scripted(
    world: World, application: Application, database: Database, vault: Vault
) -> AsyncIterator[tuple[Scripted, World]]:
    async with Scripted() as gateway:
        engine = Engine(database, clock=world.clock, vault=vault, bus=application.services.bus, gateway=gateway)
        yield gateway, World(world.api, engine, world.clock)


async def make_accounts(world: World, count: int) -> list[str]:
    ids = []
    for number in range(count):
        credentials = {"from": f"{number}@example.com", "webhookUrl": "https://hooks.example/x", "secretKey": "s"}
        body = {"providerId": "email-webhook", "channel": "email", "active": True, "credentials": credentials}
        response = await world.api.post("/v1/integrations", json=body)
        assert response.status_code == 201, response.text
        ids.append(response.json()["_id"])
    return ids


async def work_to_the_end(world: World, database: Database) -> int:
    """Work at every moment at which something is due; returns how many there were."""
    environment_id = world.api.environment.id
    for turn in itertools.count():
        row = await database.read(lambda db: db.fetch_one(NEXT_DUE, environment_id=environment_id))
        if row is None or row["due_at"] is None or turn >= MAX_TURNS:
            return turn
        await world.work(after=max(row["due_at"] - world.clock.now(), 0))
    raise AssertionError


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True, scope="session")
@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(script=scripts)
@example(script=[["400"], ["429 after 120 s"]])
@example(script=[["429 after 120 s"], ["400"]])
@example(script=[["429 after 11 s"], ["429 after 11 s"], ["429 after 11 s"]])
@example(script=[["400"], ["429 after 120 s"], ["503"]])
@example(script=[["401"], ["time-out", "400"], ["429 after 1 day"]])
async def test_calls_attempts_and_details_are_bounded_and_every_job_ends(
    world: World, application: Application, database: Database, vault: Vault, script: list[list[str]]
) -> None:
    ids = await make_accounts(world, len(script))
    world.clock.move(1)
    name = f"w{world.clock.now()}"
    await world.make_workflow(EMAIL, key=name)
    async with scripted(world, application, database, vault) as (gateway, engine):
        gateway.scripts = script
        began = world.clock.now()
        transaction = (await world.trigger(ADA, name=name))["transactionId"]
        await engine.work()
        turns = await work_to_the_end(engine, database)

    for one in ids:
        assert (await world.api.delete(f"/v1/integrations/{one}")).status_code == 200
    ((job,),) = [event["jobs"] for event in await world.events(transactionId=transaction)]
    refusals = Counter(place for place, answer in gateway.calls if answer in ("400", "401"))
    counted = [answer for _, answer in gateway.calls if answer in ("429", "503", "time-out", "refused")]
    assert job["status"] in ("completed", "failed")
    assert (job["status"] == "completed") == (bool(gateway.calls) and gateway.calls[-1][1] == "200")
    assert max(refusals.values(), default=0) <= 1
    assert len(counted) <= 2 * (MAX_ATTEMPTS + ATTEMPTS_ON_OTHERS * (len(script) - 1))
    assert len(gateway.calls) <= LIMIT_OF_CALLS
    assert turns <= 2 * len(gateway.calls) + 10
    assert len(details(job)) <= 4 * len(gateway.calls) + 10
    assert world.clock.now() - began <= 3 * 24 * HOUR


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
async def test_one_account_refuses_and_the_other_pauses_so_that_both_are_called_once_in_two_minutes(
    world: World, application: Application, database: Database, vault: Vault, order: tuple[int, int]
) -> None:
    await make_accounts(world, 2)
    await world.make_workflow(EMAIL)
    answers = [["400"], ["429 after 120 s", "200"]]
    async with scripted(world, application, database, vault) as (gateway, engine):
        gateway.scripts = [answers[one] for one in order]
        await world.trigger(ADA)
        for _ in range(119):
            await engine.work(after=SECOND)
        called = sorted(answer for _, answer in gateway.calls)
        assert called == ["400", "429 after 120 s"]

        await engine.work(after=2 * SECOND)

    (message,) = await world.messages()
    assert gateway.calls[-1][1] == "200"
    assert (message["status"], len(gateway.calls)) == ("sent", 3)


async def test_a_refusal_is_remembered_by_the_next_process_and_forgotten_by_a_redrive(
    world: World, application: Application, database: Database, vault: Vault
) -> None:
    await make_accounts(world, 2)
    await world.make_workflow(EMAIL)
    async with scripted(world, application, database, vault) as (gateway, engine):
        gateway.scripts = [["400"], ["503"]]
        await world.trigger(ADA)
        await engine.work()
    async with scripted(world, application, database, vault) as (gateway, engine):
        gateway.scripts = [["400"], ["503"]]
        await work_to_the_end(engine, database)
        (event,) = await world.events()

        assert {place for place, _ in gateway.calls} == {1}
        assert event["jobs"][0]["status"] == "failed"
        assert any("refused this message before" in str(one) for one in event["jobs"][0]["executionDetails"])

        gateway.scripts = [["200"], ["503"]]
        response = await world.api.post("/v1/dead-letters/redrive", json={"all": True})
        assert response.status_code == 200, response.text
        await engine.work()
        assert gateway.calls[-1] == (0, "200")


async def test_a_message_that_finds_the_account_paused_by_another_waits_for_it_too(
    world: World, application: Application, database: Database, vault: Vault
) -> None:
    await make_accounts(world, 2)
    await world.make_workflow(EMAIL)
    async with scripted(world, application, database, vault) as (gateway, engine):
        gateway.scripts = [["400"], ["429 after 120 s", "200"]]
        await world.trigger(ADA)
        await engine.work()
        await world.trigger({"subscriberId": "bob", "email": "bob@example.com"})
        for _ in range(11):
            await engine.work(after=10 * SECOND)
        assert Counter(gateway.calls) == {(0, "400"): 2, (1, "429 after 120 s"): 1}

        await engine.work(after=MINUTE)

    assert Counter(gateway.calls)[(1, "200")] == 2
    said: list[dict[str, Any]] = [one for event in await world.events() for one in event["jobs"][0]["executionDetails"]]
    assert len(said) < 20
