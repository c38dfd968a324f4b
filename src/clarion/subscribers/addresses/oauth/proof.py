"""The hash that proves a context, where a caller sends one or has to."""

from collections.abc import Mapping
from typing import Any

from clarion.environments.store import list_secrets
from clarion.errors import Invalid
from clarion.http.operation import Call
from clarion.inbox.sessions.proof import is_context_proven


async def check_context_hash(call: Call, context: Mapping[str, Any] | None, given: str | None) -> None:
    """Refuse a hash that is sent and is not that of the context."""
    if given is None:
        return
    if context is None:
        raise Invalid.field("contextHash", "is of no use without context")
    keys = await list_secrets(call.db, call.environment_id, call.services.vault, call.now)
    if not await is_context_proven(call.db, call.environment_id, dict(context), given, keys):
        raise Invalid.field("contextHash", "is not the hexadecimal HMAC-SHA256 of the context under an API key")
