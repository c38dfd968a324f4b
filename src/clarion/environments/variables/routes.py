"""Variables of environments: create, read, change, list, delete, and where they are used."""

from clarion.audit.model import Action
from clarion.audit.recording import record_request
from clarion.environments.access import Reach
from clarion.environments.variables import actions, store
from clarion.environments.variables.effects import warn_of_change, warn_of_deletion
from clarion.environments.variables.model import EnvironmentVariable
from clarion.environments.variables.usage import find_uses
from clarion.environments.variables.wire import (
    VariableIn,
    VariableOut,
    VariablePatch,
    VariablesQuery,
    VariableUsageOut,
)
from clarion.errors import Malformed
from clarion.http.operation import Call, Transaction, operation
from clarion.vocabulary import Scope


@operation("GET", "/v1/environment-variables", scope=Scope.ENVIRONMENTS_READ, query=VariablesQuery)
async def list_variables(call: Call, query: VariablesQuery) -> list[VariableOut]:
    """List the variables of the organization, newest first, with their values in the environments of the caller."""
    reach = await Reach.read(call.db, call.caller)
    wanted = (query.search or "").lower()
    variables = await store.list_variables(call.db, call.organization_id, call.services.vault)
    return [_out(reach, variable) for variable in variables if wanted in variable.key.lower()]


@operation("POST", "/v1/environment-variables", scope=Scope.ENVIRONMENTS_WRITE, body=VariableIn)
async def create_variable(call: Call, body: VariableIn) -> VariableOut:
    """Create a variable; texts see it as `env.<key>`, with the value of the environment of the run."""
    reach = await Reach.lock(call.db, call.caller)
    made = await actions.create_variable(call.db, reach, body.changes(), vault=call.services.vault, now=call.now)
    await record_request(call, Action.VARIABLE_CREATE, after=made)
    return _out(reach, made)


@operation("GET", "/v1/environment-variables/{variableKey}", scope=Scope.ENVIRONMENTS_READ)
async def get_variable(call: Call, variable_key: str) -> VariableOut:
    """Retrieve a variable."""
    reach = await Reach.read(call.db, call.caller)
    return _out(reach, await store.get_variable(call.db, call.organization_id, variable_key, call.services.vault))


@operation(
    "PATCH",
    "/v1/environment-variables/{variableKey}",
    scope=Scope.ENVIRONMENTS_WRITE,
    body=VariablePatch,
    precheck=warn_of_change,
)
async def update_variable(call: Call, variable_key: str, body: VariablePatch) -> VariableOut:
    """Rename a variable, set values of it, or change whether they are shown.

    An API key sets the value of its own environment, and others with the scope `organization:reach`. The response warns
    of what refers to the variable and does not find it any more.
    """
    if body.is_empty:
        raise Malformed("At least one field must be provided to update: key, type, isSecret, forCredentials or values")
    reach = await Reach.lock(call.db, call.caller)
    before, after = await actions.change_variable(
        call.db, reach, variable_key, body.changes(), vault=call.services.vault, now=call.now
    )
    await record_request(call, Action.VARIABLE_UPDATE, before=before, after=after)
    return _out(reach, after)


@operation(
    "DELETE",
    "/v1/environment-variables/{variableKey}",
    scope=Scope.ENVIRONMENTS_WRITE,
    status=204,
    precheck=warn_of_deletion,
)
async def delete_variable(call: Call, variable_key: str) -> None:
    """Delete a variable with its values in all environments; the response warns of what refers to it.

    Texts then see nothing, and integrations cannot send.
    """
    reach = await Reach.lock(call.db, call.caller)
    deleted = await actions.delete_variable(call.db, reach, variable_key, vault=call.services.vault)
    await record_request(call, Action.VARIABLE_DELETE, before=deleted)


@operation(
    "GET",
    "/v1/environment-variables/{variableKey}/usage",
    scope=Scope.ENVIRONMENTS_READ,
    also=(Scope.WORKFLOWS_READ,),
    transaction=Transaction.SCAN,
)
async def get_variable_usage(call: Call, variable_key: str) -> VariableUsageOut:
    """List what refers to a variable: workflows, layouts, translations and integrations."""
    _, uses = await find_uses(call.db, caller=call.caller, key=variable_key, vault=call.services.vault)
    return VariableUsageOut.of(uses)


def _out(reach: Reach, variable: EnvironmentVariable) -> VariableOut:
    readable = [one for one in variable.values if reach.caller.has_scope_in(one, Scope.ENVIRONMENTS_READ)]
    return VariableOut.of(variable, readable)
