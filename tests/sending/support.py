"""Claiming sends by hand."""

from functools import partial

from clarion.engine.worker import Engine
from clarion.jobs.model import Priority
from clarion.sending.claim import LEASE, claim_sends
from clarion.sending.model import ClaimedSend
from clarion.sending.places import Places, Room, SendQueue
from clarion.vocabulary import Channel
from tests.engine.support import World


async def claim_email(world: World) -> list[ClaimedSend]:
    return await claim_sends_of(world, Channel.EMAIL)


async def claim_sends_of(world: World, channel: Channel) -> list[ClaimedSend]:
    """Claim the sends of a channel that are due, as a worker does that then dies or is stopped."""
    sender = world.engine.sender
    room = Room(SendQueue(world.api.environment.id, channel), list(Priority), 9)
    claim = partial(
        claim_sends, room=room, integrations=sender._integrations, places=Places(), lease=LEASE, now=world.clock.now()
    )
    claimed = await sender._database.transaction(claim)
    return claimed.sends


async def send_claimed(engine: Engine, send: ClaimedSend) -> None:
    """Make a claimed send, and record what came of it."""
    engine.sender._pipeline.start([send])
    await engine.sender._pipeline.finish()
