"""Environments: create and delete them."""

from clarion.audit.model import Action, Change
from clarion.audit.recording import author_of, record_change, record_request
from clarion.audit.resources import target_of
from clarion.bus import Signal
from clarion.environments import actions, deletion
from clarion.environments.access import Reach
from clarion.environments.actions import KeyRequest
from clarion.environments.lifecycle_wire import (
    DeletionQuery,
    EnvironmentDeletedOut,
    EnvironmentIn,
    NewEnvironmentOut,
)
from clarion.environments.model import Environment
from clarion.errors import Invalid
from clarion.http.operation import Call, operation
from clarion.ids import EnvironmentId
from clarion.vocabulary import GIVEN_BY_NAME, Scope


@operation("POST", "/v1/environments", scope=Scope.ENVIRONMENTS_WRITE, owner=True, status=201, body=EnvironmentIn)
async def create_environment(call: Call, body: EnvironmentIn) -> NewEnvironmentOut:
    """Create an environment of the organization, with an inbox and an API key, whose secret is shown only here.

    The new key reaches the new environment alone. It has the scopes of the key that makes the request, and expires with
    it. Of members, only owners can do this, and the key has all scopes; an API key needs `organization:reach`.
    """
    reach = await _lock_reach(call)
    caller = call.caller
    scopes = caller.grantable_scopes - GIVEN_BY_NAME
    key = KeyRequest(name=actions.FIRST_KEY, scopes=scopes, expires_at=caller.expires_at)
    made = await actions.create_environment(
        call.db, reach.all, body.draft(), key=key, vault=call.services.vault, now=call.now
    )
    await record_request(call, Action.ENVIRONMENT_CREATE, after=made.environment)
    await record_request(call, Action.API_KEY_CREATE, after=made.key.record)
    call.after_commit.append(lambda: call.services.bus.publish(Signal.MEMBERS_CHANGED))
    return NewEnvironmentOut.of_new(made, caller.key_id)


@operation(
    "DELETE",
    "/v1/environments/{environmentId}",
    scope=Scope.ENVIRONMENTS_WRITE,
    owner=True,
    query=DeletionQuery,
)
async def delete_environment(call: Call, environment_id: EnvironmentId, query: DeletionQuery) -> EnvironmentDeletedOut:
    """Delete another environment of the organization; its keys and sessions end at once.

    Its data is deleted in the background. One of type `prod` needs its name in `confirm`. Of members, only owners can
    do this; an API key needs `organization:reach`.
    """
    reach = await _lock_reach(call)
    deleted = reach.get(environment_id, Scope.ENVIRONMENTS_WRITE)
    _check_deletion(call, deleted, query)
    await deletion.delete_environment(call.db, deleted, call.now)
    # In the log of the API key's own environment: that of the deleted one is deleted with it.
    change = Change(action=Action.ENVIRONMENT_DELETE, target=target_of(deleted))
    await record_change(call.db, call.environment_id, change, author_of(call), call.now)
    call.after_commit.append(lambda: call.services.bus.publish(Signal.API_KEY_CHANGED))
    return EnvironmentDeletedOut()


async def _lock_reach(call: Call) -> Reach:
    """Lock the environments of the organization, which must still include that of the request."""
    reach = await Reach.lock(call.db, call.caller)
    reach.get(call.environment_id)
    return reach


def _check_deletion(call: Call, environment: Environment, query: DeletionQuery) -> None:
    if environment.id == call.environment_id:
        raise Invalid.field(
            "environmentId",
            "is the environment of this request; use a key of another one, name another one in Clarion-Environment, "
            "or use 'clarion environments delete'",
        )
    if not environment.is_development and query.confirm != environment.name:
        raise Invalid.field(
            "confirm", f"must be the name of this environment of type {environment.kind}", query.confirm
        )
