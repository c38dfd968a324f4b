"""Simulating a trigger: it is accepted and worked on in a sandbox, and everything is forgotten but what came of it."""

import asyncio

from msgspec.structs import replace

from clarion.clock import Millis
from clarion.db.port import Database, Sandbox
from clarion.errors import RequestError
from clarion.ids import own_ids
from clarion.integrations.cache import IntegrationCache
from clarion.simulate import store
from clarion.simulate.fixture import copy_fixture
from clarion.simulate.model import Scenario, Simulation
from clarion.simulate.results import list_recipients
from clarion.simulate.worker import SimulatedWorker
from clarion.triggers.actions import Accepted, TriggerRequest, accept_triggers
from clarion.triggers.model import make_transaction_key
from clarion.vault import Vault
from clarion.workflows.steps import check_definition


async def simulate(database: Database, vault: Vault, scenario: Scenario) -> Simulation:
    """What a trigger would do; raises what the trigger would be refused with."""
    if scenario.steps is not None:
        # Parsing takes long for large texts.
        await asyncio.to_thread(check_definition, scenario.steps, None)

    async def work(db: Sandbox) -> Simulation:
        with own_ids():
            return await _simulate(db, IntegrationCache(vault), scenario)

    return await database.sandbox(scenario.request.environment_id, work)


async def _simulate(db: Sandbox, integrations: IntegrationCache, scenario: Scenario) -> Simulation:
    environment_id, at = scenario.request.environment_id, scenario.at
    fixture = await copy_fixture(db, scenario)
    worker = SimulatedWorker(db, environment_id, integrations, min(scenario.now, at))
    # What is under way may end or go on before the trigger comes.
    await worker.run(Millis(at - 1))
    worker.move(at)
    accepted = await _accept(db, scenario.request if fixture is None else fixture.request, at)
    if fixture is None or accepted.trigger is None:
        return Simulation(outcome=accepted.outcome, errors=accepted.errors)
    await worker.work()
    await worker.run(scenario.until)
    return Simulation(
        outcome=accepted.outcome,
        errors=accepted.errors,
        recipients=await list_recipients(db, scenario, integrations, accepted.trigger.id, worker.now),
        total=fixture.total,
        is_cut_short=worker.is_cut_short,
    )


async def _accept(db: Sandbox, request: TriggerRequest, at: Millis) -> Accepted:
    """Accept the trigger as a request would; one whose transaction was seen before would not be run again."""
    transaction = request.transaction
    is_repeated = transaction is not None and await store.has_transaction(db, request.environment_id, transaction)
    if is_repeated:
        request = replace(request, transaction=make_transaction_key(at))
    (outcome,) = (await accept_triggers(db, [request], at)).outcomes
    if isinstance(outcome, RequestError):
        raise outcome
    if not is_repeated:
        return outcome
    error = f"Transaction '{transaction}' was seen before, so nothing would be run; leave out transactionId"
    return replace(outcome, errors=[*outcome.errors, error], trigger=None)
