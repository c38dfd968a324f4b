"""Changes of invitations in the audit log."""

from typing import Any

from clarion.audit.model import Action, Author, Change, Target, TargetType
from clarion.audit.recording import record_change
from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.environments.store import list_environments
from clarion.ids import EnvironmentId
from clarion.members.auditing import describe_access
from clarion.members.model import Link


async def record_invitation(
    db: Connection,
    action: Action,
    author: Author,
    now: Millis,
    *,
    before: Link | None = None,
    after: Link | None = None,
) -> None:
    """Record a change of an invitation, in the logs of all environments of the organization."""
    found = after or before
    if found is None:
        raise TypeError("A change has an invitation before or after it")
    target = Target(type=TargetType.INVITATION, id=found.public_id, name=found.email)
    for environment in await list_environments(db, found.organization_id):
        change = Change(
            action=action,
            target=target,
            before=None if before is None else _describe_invitation(before, environment.id),
            after=None if after is None else _describe_invitation(after, environment.id),
        )
        await record_change(db, environment.id, change, author, now)


def _describe_invitation(link: Link, environment_id: EnvironmentId) -> dict[str, Any]:
    return {"email": link.email, **describe_access(link.access, environment_id)}
