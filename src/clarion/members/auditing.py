"""Changes of members in the audit log: in that of each environment of the organization."""

from typing import Any

from clarion.audit.model import Action, Actor, ActorType, Author, Change, Snapshot, Target, TargetType
from clarion.audit.recording import record_change
from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.environments.store import list_environments
from clarion.ids import EnvironmentId, id_text
from clarion.members.model import Access, Member
from clarion.secret import Secret


async def record_member(
    db: Connection,
    action: Action,
    author: Author,
    now: Millis,
    *,
    before: Member | None = None,
    after: Member | None = None,
) -> None:
    """Record a change of a member, unless nothing differs."""
    found = after or before
    if found is None:
        raise TypeError("A change has a member before or after it")
    for environment in await list_environments(db, found.organization_id):
        change = Change(
            action=action,
            target=_target(found),
            before=None if before is None else _describe_member(before, environment.id),
            after=None if after is None else _describe_member(after, environment.id),
        )
        await record_change(db, environment.id, change, author, now)


async def record_member_event(
    db: Connection, action: Action, member: Member, author: Author, now: Millis, *, details: Snapshot | None = None
) -> None:
    """Record what was done without changing the member, such as ending their sessions."""
    change = Change(action=action, target=_target(member), after=details)
    for environment in await list_environments(db, member.organization_id):
        await record_change(db, environment.id, change, author, now)


def author_of_member(member: Member, request_id: str | None = None) -> Author:
    """A member who acts for themselves, before they have a session."""
    actor = Actor(type=ActorType.MEMBER, id=id_text(member.id), name=member.name)
    return Author(actor=actor, request_id=request_id)


def _target(member: Member) -> Target:
    return Target(type=TargetType.MEMBER, id=id_text(member.id), name=member.email)


def describe_access(access: Access, environment_id: EnvironmentId) -> dict[str, Any]:
    """The roles as the log of an environment has them: those in other environments are not for its readers."""
    own = {environment_id.hex()} & access.environment_roles.keys()
    roles = {id_text(environment_id): access.environment_roles[one] for one in own}
    return {"role": access.role, "environmentRoles": roles}


def _describe_member(member: Member, environment_id: EnvironmentId) -> dict[str, Any]:
    password = None if member.password is None else Secret(member.password)
    described = describe_access(member.access, environment_id)
    return {"email": member.email, "name": member.name, **described, "password": password}
