"""The gate to environments other than that of the request: which a caller can name, and what they may do there.

An API key reaches its own environment. With `organization:reach`, which only an owner or the operator gives, it has its
scopes in the other environments of the organization too. A member has those of their role in each environment.
"""

from collections.abc import Sequence
from typing import Self

from msgspec import Struct

from clarion.db.port import Connection
from clarion.environments.actions import list_environments_to_change
from clarion.environments.model import Environment
from clarion.environments.store import list_environments
from clarion.errors import Forbidden, NotFound
from clarion.http.caller import Caller
from clarion.http.operation import Call
from clarion.ids import EnvironmentId, id_text
from clarion.vocabulary import Scope


class Reach(Struct, frozen=True, kw_only=True):
    """The environments of the caller's organization, and which of them the caller can name."""

    caller: Caller
    all: Sequence[Environment]
    """Those that the caller cannot name too: names must be unique among them."""

    @classmethod
    async def read(cls, db: Connection, caller: Caller) -> Self:
        return cls(caller=caller, all=await list_environments(db, caller.organization_id))

    @classmethod
    async def lock(cls, db: Connection, caller: Caller) -> Self:
        """Read the environments to change them: others that change them wait for this unit of work."""
        return cls(caller=caller, all=await list_environments_to_change(db, caller.organization_id))

    def list(self) -> list[Environment]:
        """List the environments that the caller can name."""
        return [environment for environment in self.all if self.caller.can_enter(environment.id)]

    def get(self, environment_id: EnvironmentId, *scopes: Scope) -> Environment:
        """Return an environment in which the caller has the scopes.

        Raises NotFound if the caller cannot name it, as if it did not exist, and Forbidden if a scope is missing.
        """
        for environment in self.list():
            if environment.id == environment_id:
                self._require(environment, scopes)
                return environment
        raise NotFound("Environment", id_text(environment_id))

    def _require(self, environment: Environment, scopes: Sequence[Scope]) -> None:
        missing = [scope for scope in scopes if not self.caller.has_scope_in(environment.id, scope)]
        if missing:
            raise Forbidden(
                f"{self.caller.title} lacks {', '.join(missing)} in the environment {environment.name}",
                ctx={"missingScopes": missing},
            )


async def access_environment(call: Call, environment_id: EnvironmentId, *scopes: Scope) -> Environment:
    """Return an environment in which the caller has the scopes; raises NotFound or Forbidden, as `Reach.get` does."""
    return (await Reach.read(call.db, call.caller)).get(environment_id, *scopes)
