"""What the response to a trigger warned of, for its explanations."""

from msgspec.structs import replace

from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.explain.model import Explanation
from clarion.ids import EnvironmentId
from clarion.jsontext import json_value

FIND_WARNINGS = sql("""
    SELECT warnings FROM triggers WHERE environment_id = :environment_id AND transaction_key = :transaction_key
""")


async def add_warnings(db: Connection, environment_id: EnvironmentId, found: Explanation) -> Explanation:
    """Add the warnings of the trigger, if there were any."""
    if found.transaction_key is None:
        return found
    scope = {"environment_id": environment_id, "transaction_key": found.transaction_key}
    row = await db.fetch_one(FIND_WARNINGS, **scope)
    return found if row is None else replace(found, warnings=json_value(row["warnings"]) or [])
