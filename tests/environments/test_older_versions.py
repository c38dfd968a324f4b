"""What a change by a process of 0.1.0 leaves as it is.

They do not work beside new ones: migrations that they cannot live with wait until they are stopped. One that was
suspended for so long that it was taken for dead may still write once.
"""

from clarion.clock import ManualClock
from clarion.db.port import Connection, Database
from clarion.db.query import sql
from clarion.ids import id_text
from tests.support import Api

# As 0.1.0 has it.
UPDATE_ENVIRONMENT = sql("""
    UPDATE environments
    SET name = :name, parent_id = :parent_id, timezone = :timezone, options = :options, updated_at = :updated_at,
        configuration_version = configuration_version + 1
    WHERE id = :id
""")


async def test_a_change_by_an_older_process_keeps_the_options_of_mails(
    api: Api, database: Database, clock: ManualClock
) -> None:
    path = f"/v1/environments/{id_text(api.environment.id)}"
    replies = {"enabled": True, "domain": "in.example.com"}
    assert (await api.patch(path, json={"replies": replies, "color": "#fff"})).status_code == 200

    async def change(db: Connection) -> None:
        wanted = {"name": "Renamed", "parent_id": None, "timezone": None, "options": None, "updated_at": clock.now()}
        await db.execute(UPDATE_ENVIRONMENT, id=api.environment.id, **wanted)

    await database.transaction(change)

    shown = (await api.get("/v1/environments/me")).json()
    assert (shown["name"], shown["replies"]) == ("Renamed", replies)
    assert "color" not in shown
