"""What refers to a variable in an environment: workflows, layouts, translations, and credentials of integrations."""

from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.environments.access import Reach
from clarion.environments.variables.model import EnvironmentVariable, Use, UseKind, is_used_in
from clarion.environments.variables.store import get_variable
from clarion.http.caller import Caller
from clarion.ids import EnvironmentId
from clarion.integrations.store import list_integrations
from clarion.jsontext import json_text
from clarion.vault import Vault
from clarion.vocabulary import Scope

LIST_WORKFLOWS_WITH = sql("""
    SELECT w.key, w.name, v.steps AS content FROM workflows AS w
    JOIN workflow_versions AS v ON v.environment_id = w.environment_id AND v.id = w.version_id
    WHERE w.environment_id = :environment_id AND w.deleted_at IS NULL AND {position}(v.steps, :key) > 0
    ORDER BY w.key
""")
LIST_LAYOUTS_WITH = sql("""
    SELECT l.key, l.name, v.body AS content FROM layouts AS l
    JOIN layout_versions AS v ON v.environment_id = l.environment_id AND v.id = l.version_id
    WHERE l.environment_id = :environment_id AND l.deleted_at IS NULL AND {position}(coalesce(v.body, ''), :key) > 0
    ORDER BY l.key
""")
LIST_TRANSLATIONS_WITH = sql("""
    SELECT COALESCE(w.key, l.key) AS key, t.locale AS name, t.content FROM translations AS t
    LEFT JOIN workflows AS w ON w.environment_id = t.environment_id AND w.id = t.resource_id AND w.deleted_at IS NULL
    LEFT JOIN layouts AS l ON l.environment_id = t.environment_id AND l.id = t.resource_id AND l.deleted_at IS NULL
    WHERE t.environment_id = :environment_id AND {position}(t.content, :key) > 0
    AND COALESCE(w.key, l.key) IS NOT NULL
    ORDER BY t.resource_type, key, t.locale
""")

_TEXTS = (
    (UseKind.WORKFLOW, LIST_WORKFLOWS_WITH),
    (UseKind.LAYOUT, LIST_LAYOUTS_WITH),
    (UseKind.TRANSLATION, LIST_TRANSLATIONS_WITH),
)


async def find_uses(db: Connection, *, caller: Caller, key: str, vault: Vault) -> tuple[EnvironmentVariable, list[Use]]:
    """Return a variable, and what refers to it in the environments of the caller; raises NotFound."""
    variable = await get_variable(db, caller.organization_id, key, vault)
    uses = [
        use
        for environment in (await Reach.read(db, caller)).list()
        for use in await _list_uses(db, environment.id, key, caller=caller, vault=vault)
    ]
    return variable, uses


async def _list_uses(
    db: Connection, environment_id: EnvironmentId, key: str, *, caller: Caller, vault: Vault
) -> list[Use]:
    """What of an environment refers to a variable, of what the caller may read there."""
    uses = []
    if caller.has_scope_in(environment_id, Scope.WORKFLOWS_READ):
        for kind, query in _TEXTS:
            rows = await db.fetch(query, environment_id=environment_id, key=key)
            uses += [Use(kind, row["key"], row["name"]) for row in rows if is_used_in([row["content"]], key)]
    if caller.has_scope_in(environment_id, Scope.INTEGRATIONS_READ):
        uses += [
            Use(UseKind.INTEGRATION, integration.identifier, integration.name)
            for integration in await list_integrations(db, environment_id, vault)
            if is_used_in([json_text(integration.credentials)], key)
        ]
    return uses
