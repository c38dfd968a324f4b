"""Answers a request that begins to connect, with an API key or in a session."""

from clarion.http.operation import Call
from clarion.members.actions import base_url
from clarion.subscribers.addresses.oauth.actions import Wish, begin_attempt
from clarion.subscribers.addresses.oauth.wire import OAuthUrlOut


async def begin(call: Call, wish: Wish) -> OAuthUrlOut:
    services = call.services
    url = await begin_attempt(
        call.db,
        call.environment_id,
        wish,
        base=base_url(services.settings),
        vault=services.vault,
        now=call.now,
    )
    return OAuthUrlOut(url=url)
